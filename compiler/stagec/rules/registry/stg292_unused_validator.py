"""Nothing names a validator or a failure pattern.

## Why this matters
A validator that no validation step names is never run, and the run ends without what it was to check. A failure pattern
that no validator names selects no prompt. Often the name was changed on one side only.

## How to fix
Name the validator in the `validationConditions` of the closure step that it is to guard, and the failure pattern in the
validator; or delete them.
"""

from collections.abc import Callable, Iterator, Mapping

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import find_unused
from stagec.rules.registry import rule

_NOUNS: Mapping[str, tuple[str, str, Callable[[Registry], NameIndex]]] = {
    "validators": ("validator", "validation step", lambda registry: registry.validators),
    "failurePatterns": ("failure pattern", "validator", lambda registry: registry.patterns),
}


@rule(since="0.1", origin=("steps-registry:beyond.unused-defs",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for section, names in find_unused(registry).items():
        what, user, every = _NOUNS[section]
        if len(names) == len(every(registry)) > 1:
            yield Finding((registry.at / section).key, f"no {user} names any {what}")
            continue
        for name in names:
            yield Finding((registry.at / section / name).key, f"no {user} names the {what} {quote(name)}")
