"""A validator reads a value from its output with an extractor that does not exist.

## Why this matters
An extractor that nobody knows finds nothing. The value is then empty in the retry prompt, and the model does not read
what it should mend. The documents name `parseBranchName`, `parseRemoteStatus` and `parseMergeStatus`, which no
runner has.

## How to fix
Correct the name. `stdout`, `stderr`, `errorOutput` and `exitCode` give what the command wrote and how it ended; the
others look for one thing in it, such as `parseChangedFiles`, `failedTests`, `errors` or `files`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import list_validators
from stagec.plan.surroundings import EXTRACTORS
from stagec.rules.registry import rule

_KNOWN = NameIndex(EXTRACTORS)
_DOCUMENTED = ("parseBranchName", "parseRemoteStatus", "parseMergeStatus")
_SHOWN = 8


@rule(
    since="0.1",
    origin=("steps-registry:beyond.extractor", "steps-registry:doc.extract-params"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    lost: dict[str, list[Place]] = {}
    for name, body in list_validators(registry):
        extracted = body.get("extractParams")
        for member, extractor in extracted.items() if isinstance(extracted, dict) else ():
            if isinstance(extractor, str) and extractor not in _KNOWN:
                lost.setdefault(extractor, []).append(registry.at / "validators" / name / "extractParams" / member)
    documented = {each: lost.pop(each) for each in _DOCUMENTED if each in lost}
    for extractor, (first, *others) in lost.items():
        message = f"there is no extractor {quote(extractor)}{hint(extractor, _KNOWN)}"
        yield Finding(first, message, _relate(others), guess(extractor, _KNOWN, *others))
    for first, *others in [[at for places in documented.values() for at in places]] if documented else ():
        message = f"no runner has {listing(documented, 'or')}, although the documents name such an extractor"
        yield Finding(first, message, _relate(others))


def _relate(others: Iterable[Place]) -> tuple[Related, ...]:
    return tuple(Related(at, "here too") for at in islice(others, _SHOWN))
