"""Both `entryStep` and `entryStepMapping` say where runs begin.

## Why this matters
The mapping counts for the verdict types it names, and `entryStep` for the others. Some checks of registries want only
one of them.

## How to fix
Keep `entryStepMapping` and name every verdict type there.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("steps-registry:doc.R-F11",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    if "entryStep" in registry.body and "entryStepMapping" in registry.body:
        related = (Related((registry.at / "entryStepMapping").key, "the mapping"),)
        yield Finding((registry.at / "entryStep").key, "'entryStep' stands beside 'entryStepMapping'", related)
