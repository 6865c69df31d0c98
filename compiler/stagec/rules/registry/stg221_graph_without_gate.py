"""The agent is judged by its graph of steps, but no step has a gate.

## Why this matters
Under the verdict type `detect:graph` a run is done when the transitions lead out of the graph. Transitions are chosen
by gates; without any, the run never moves and the agent does not start.

## How to fix
Give every step a `structuredGate` and transitions, or choose a verdict type that fits an agent without them.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:boot.graph-needs-gate", "SR-GATE-004"))
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    if agent is None or agent.verdict != "detect:graph" or not registry.steps or registry.broken_steps:
        return
    if not any("structuredGate" in step.body for step in registry.steps.values()):
        message = "the verdict type is 'detect:graph', but no step of the registry has a gate"
        yield Finding(agent.verdict_at, message, (Related(registry.at / "steps", "the steps"),))
