"""Which steps run a program instead of asking with a prompt."""

from __future__ import annotations

from stagec.core.json import Object
from stagec.frontends.registry.document import Kind, Step


def program(step: Step) -> Object | None:
    """Return the program that a step runs, as it is written; only closure steps run one."""
    runner = step.body.get("runner")
    return runner if step.kind is Kind.CLOSURE and isinstance(runner, dict) else None
