"""A registry does not say where runs begin.

## Why this matters
A run begins at the step that `entryStepMapping` names for the agent's verdict type, or else at `entryStep`. With
neither, no run can begin.

## How to fix
Map the agent's verdict type to a step, for example `"entryStepMapping": {"poll:state": "initial.issue"}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import entry_mapping
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:boot.entry-missing", "SR-ENTRY-001"))
def check(registry: Registry) -> Iterator[Finding]:
    if registry.steps and "entryStep" not in registry.body and entry_mapping(registry) == {}:
        message = "runs begin nowhere: there is neither an 'entryStep' nor a verdict type in 'entryStepMapping'"
        yield Finding(registry.at / "entryStepMapping", message)
