"""An agent that counts iterations is done before a closure step can be reached.

## Why this matters
With the verdict type `count:iteration` a run ends when `maxIterations` iterations are done, and each step is one of
them. Where the shortest way from the first step to a closure step is longer, no run ever reaches a closure step:
nothing is closed, and no verdict is given.

## How to fix
Raise `maxIterations` to at least the number of steps that the message names, or shorten the way.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.frontends.registry.distance import count_to_closure
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-out-of-reach",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    most = agent.settings.get("maxIterations") if agent is not None and agent.verdict == _COUNTING else None
    if agent is None or registry.generation is Generation.V1_13 or not isinstance(most, int) or isinstance(most, bool):
        return
    least = count_to_closure(registry, _COUNTING)
    if least is not None and least > most >= 1:
        at = agent.at / "runner" / "verdict" / "config" / "maxIterations"
        message = f"runs end after {most} of at least {least} steps that lead to a closure step"
        related = (Related(registry.entries[_COUNTING].at, "runs begin here"),)
        yield Finding(at, message, related, causes=(related[0].at,))


_COUNTING = "count:iteration"
