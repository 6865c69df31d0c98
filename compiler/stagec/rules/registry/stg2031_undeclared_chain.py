"""A step may repeat itself, but has no adaptation chain.

## Why this matters
Since climpt 1.14 each repeat in a row uses the next element of `adaptationChain`, and a repeat beyond the last one
ends the run as failed. Without the member the chain is `["default"]`: the step can repeat itself once. In 1.13 it
could do so until the bound of the agent was reached.

## How to fix
List an adaptation for each repeat in a row that is meant, such as `["default", "default", "default"]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Intent, Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-undeclared", "S10"), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        listed = step.gate is not None and Intent.REPEAT in step.gate.allowed
        if listed and step.program is None and "adaptationChain" not in step.body:
            message = f"step {quote(step.key)} can repeat itself once in a row: it has no 'adaptationChain'"
            yield Finding(step.at / "adaptationChain", message, (Related(step.allowed_at, "allows 'repeat'"),))
