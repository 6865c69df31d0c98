"""A validation step guards no closure step.

## Why this matters
The key under `validationSteps` names the closure step whose `closing` it guards. When no closure step has this name
the validators are never run, and the run ends unchecked.

## How to fix
Make the key the name of the closure step that is to be guarded.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step, StepKind
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.validation-step-key", "rulings:R5"))
def check(registry: Registry) -> Iterator[Finding]:
    given = registry.body.get("validationSteps")
    keys = tuple(given) if isinstance(given, dict) and registry.steps else ()
    told = {mention.name for mention in registry.lost_targets}.union(registry.broken_steps)
    idle = [key for key in keys if key not in told and _is_idle(registry.step(key), registry.generation)]
    if not idle:
        return
    closures = NameIndex(
        step.key
        for step in registry.steps.values()
        if step.key not in keys and not step.is_section and _can_be_guarded(step, registry.generation)
    )
    for key in idle:
        at, step = (registry.at / "validationSteps" / key).key, registry.step(key)
        message = f"validation step {quote(key)} guards nothing"
        if step is None:
            yield Finding(at, f"{message}: there is no such step{hint(key, closures)}", fix=guess(key, closures))
        else:
            what = "section" if step.kind is None else f"{step.kind.value} step"
            related = (Related(step.kind_at, "its kind follows from this"),) if step.kind is not None else ()
            message = f"{message}: that step is a {what}, no closure step{hint(key, closures)}"
            yield Finding(at, message, related, guess(key, closures))


def _can_be_guarded(step: Step, written: Generation) -> bool:
    return step.kind is StepKind.CLOSURE or written is not Generation.V1_13


def _is_idle(step: Step | None, written: Generation) -> bool:
    """Tell whether this is surely no step that can be guarded; a step of unknown kind may be one."""
    if step is None or step.is_section or written is not Generation.V1_13:
        return step is None or step.is_section
    return step.acts_as in {StepKind.WORK, StepKind.VERIFICATION}
