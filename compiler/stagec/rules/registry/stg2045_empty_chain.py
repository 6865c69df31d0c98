"""A step may repeat itself, and its adaptation chain is empty.

## Why this matters
Since climpt 1.14 each repeat in a row uses the next element of `adaptationChain`. An empty chain has none, so the first
repeat ends the run as failed. The transition for `repeat` is never taken.

## How to fix
List an adaptation for each repeat in a row that is meant, such as `["default"]`, or take `repeat` out of the gate, the
schema and the transitions.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-undeclared", "rulings:T2"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.repeats == () and step.program is None and not step.is_section:
            message = f"step {quote(step.key)} allows 'repeat', but its chain is empty: a repeat ends the run as failed"
            yield Finding(step.at / "adaptationChain", message, (Related(step.allowed_at, "allows 'repeat'"),))
