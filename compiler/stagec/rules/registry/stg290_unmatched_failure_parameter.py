"""A validator extracts other values than its failure pattern takes.

## Why this matters
What a failure pattern takes and no validator extracts is empty in the retry prompt: the model is not told what failed.

## How to fix
Give the value one name: in `extractParams` of the validator, in `params` of the failure pattern, and between braces in
the retry prompt.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess, guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import Exchange, find_exchanges
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.extractor",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for each in find_exchanges(registry):
        wanted = each.wanted or {}
        missing = [name for name in wanted if name not in each.extracted]
        if missing and not each.extracted:
            message = f"validator {quote(each.validator)} extracts nothing, but its failure pattern"
            related = (Related(wanted[missing[0]], "taken here"),)
            at = registry.at / "validators" / each.validator / "extractParams"
            yield Finding(at, f"{message} {quote(each.pattern)} takes {listing(missing)}", related)
        elif each.wanted is not None:
            yield from _compare(registry, each, missing)


def _compare(registry: Registry, each: Exchange, missing: list[str]) -> Iterator[Finding]:
    """Tell what is missing on one side and too much on the other; the retry prompt says which of the two is right."""
    wanted, read = each.wanted or {}, each.read or frozenset()
    surplus = NameIndex(name for name in each.extracted if name not in wanted)
    left = dict.fromkeys(surplus)
    extracting = registry.at / "validators" / each.validator / "extractParams"
    validator, pattern = f"validator {quote(each.validator)}", f"failure pattern {quote(each.pattern)}"
    for name in missing:
        meant = surplus.nearest(name)
        left.pop(meant or "", None)
        if meant is not None and name in read:
            message, at = (
                f"{validator} extracts {quote(meant)}, but {pattern} takes {quote(name)}",
                each.extracted[meant],
            )
            yield Finding(at, message, (Related(wanted[name], "taken here"),), Guess(meant, name))
        else:
            message = f"{pattern} takes {quote(name)}, which {validator} does not extract{hint(name, surplus)}"
            at, other = (extracting, wanted[name]) if name in read else (wanted[name], extracting)
            fix = None if name in read else guess(name, surplus)
            yield Finding(at, message, (Related(other, "the other side"),), fix)
    for name in left if not missing else ():
        message, at = f"{validator} extracts {quote(name)}, which {pattern} does not take", each.extracted[name]
        taking = registry.at / "failurePatterns" / each.pattern / "params"
        at, other = (taking, at) if name in read else (at, taking)
        yield Finding(at, message, (Related(other, "the other side"),))
