"""The verdict type is `detect:graph`, but there is no `entryStep`.

## Why this matters
`entryStepMapping` names where runs begin, and that is enough. Some runners need `entryStep` for this verdict type.

## How to fix
Write `entryStep`, besides the mapping if there is one.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(
    since="0.1",
    origin=("steps-registry:boot.graph-needs-entrystep",),
    severity=Severity.WARNING,
    groups=("portability",),
)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is None or agent.verdict != "detect:graph" or "entryStep" in agent.settings:
        return
    if "entryStep" not in registry.body:
        related = (Related(agent.verdict_at, "the agent's verdict type"),)
        yield Finding(registry.at / "entryStep", "verdict type 'detect:graph' finds no 'entryStep'", related)
