"""An agent waits for a state and does not say how many iterations it may take.

## Why this matters
A state that never comes is waited for until the default of the runner is reached, which is another in every runner.

## How to fix
Add `maxIterations` to `runner.verdict.config`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.R-F12",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is not None and agent.is_whole and agent.verdict == "poll:state" and "maxIterations" not in agent.settings:
        at = agent.at / "runner" / "verdict" / "config" / "maxIterations"
        yield Finding(
            at, f"verdict type {quote(agent.verdict)} has no 'maxIterations', so only a runner's default bounds a run"
        )
