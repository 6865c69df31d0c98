"""A step that is no closure step has a `runner`.

## Why this matters
Only closure steps can run a program instead of a prompt. Elsewhere the `runner` is not looked at, and what it was
meant to do does not happen.

## How to fix
Move the `runner` to a closure step, or give this step the kind `closure`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step, StepKind
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R24", "steps-registry:beyond.subprocess"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if "runner" in step.body and not _may_run(step):
            what = "section" if step.is_section else "step" if step.kind is None else f"{step.kind.value} step"
            message = f"{what} {quote(step.key)} has a runner, which only closure steps may have"
            related = (Related(step.kind_at, "its kind follows from this"),) if step.kind is not None else ()
            yield Finding(step.at / "runner", message, related)


def _may_run(step: Step) -> bool:
    """Tell whether this is a closure step, or may be one because its kind is broken or missing."""
    unclear = step.kind is None and (step.states_kind or step.lacks_kind)
    return step.kind is StepKind.CLOSURE or (unclear and not step.is_section)
