"""A retry prompt reads a value that no validator extracts for it.

## Why this matters
When a validator has failed, `{{name}}` in the retry prompt stands for what the validator extracted under that name. A
name that it does not extract is an empty text: the model is not told what to mend. A prompt that asks by `{{#if name}}`
can do without.

## How to fix
Correct the name, or extract the value: add it to `extractParams` of the validator and to `params` of its failure
pattern.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint, is_slip
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import Exchange, find_exchanges
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.extractor", "rulings:R6"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    users: dict[str, dict[str, Exchange]] = {}
    by_pattern: dict[str, list[Exchange]] = {}
    for each in find_exchanges(registry) if registry.prompts.readings else ():
        by_pattern.setdefault(each.pattern, []).append(each)
    for retry in registry.prompts.of_retries:
        if retry.prompt.file is not None:
            for each in by_pattern.get(retry.pattern, ()):
                users.setdefault(retry.prompt.file, {})[each.validator] = each
    for file, exchanging in users.items():
        known = NameIndex(name for each in exchanging.values() for name in (*each.extracted, *(each.wanted or ())))
        for reading in registry.prompts.readings.get(file, ()):
            near = known.nearest(reading.name)
            if reading.name in known or (reading.is_asked and (near is None or not is_slip(reading.name, near))):
                continue
            names = listing(exchanging, "or")
            related = tuple(Related(registry.at / "validators" / each, "extracts other values") for each in exchanging)
            message = f"the retry prompt reads {quote(reading.name)}, which validator {names} does not extract"
            yield Finding(reading.at, f"{message}{hint(reading.name, known)}", related[:3], guess(reading.name, known))
