"""Nothing follows a step without a gate.

## Why this matters
A step without a gate goes on to its continuation: `initial.issue` to `continuation.issue`, which repeats until the
verdict of the agent is reached. Without one the agent has a single answer to reach its verdict; after any other the run
fails, because nothing says where to go.

## How to fix
Add the continuation, or correct its name; or give the step a gate and transitions that say where it leads.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step, StepKind
from stagec.rules.registry import rule

_FIRST, _NEXT = "initial.", "continuation."


@rule(
    since="0.1",
    origin=(
        "steps-registry:uv.prefix-missing-continuation",
        "steps-registry:route.no-continuation",
        "rulings:R23",
        "rulings:T4",
    ),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    going_on = [step for step in registry.steps.values() if step.key.startswith(_FIRST) and _follows(registry, step)]
    taken = {step.key.removeprefix(_FIRST) for step in going_on}
    names = (key.removeprefix(_NEXT) for key in registry.steps if key.startswith(_NEXT))
    free = [name for name in names if name not in taken]
    related = tuple(Related(step.at.key, "goes on to its continuation") for step in going_on[:1])
    for step in registry.steps.values():
        if step.key.startswith(_FIRST) and _is_left_alone(step) and not _follows(registry, step):
            wanted = step.key.removeprefix(_FIRST)
            meant = NameIndex(free).nearest(wanted) if free else None
            near = f"; did you mean {quote(_NEXT + meant)}?" if meant is not None else ""
            message = f"nothing follows step {quote(step.key)}: it has no gate, and there is no {quote(_NEXT + wanted)}"
            yield Finding(step.at.key, f"{message}{near}", related)


def _follows(registry: Registry, step: Step) -> bool:
    return registry.has_step(_NEXT + step.key.removeprefix(_FIRST))


def _is_left_alone(step: Step) -> bool:
    """Tell whether a work step has nothing that says where it leads."""
    return (
        step.kind is StepKind.WORK
        and not step.is_section
        and "structuredGate" not in step.body
        and "next" not in (step.intents or ())
    )
