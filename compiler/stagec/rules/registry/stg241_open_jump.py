"""A jump can name a step that does not exist, and nothing is said about what happens then.

## Why this matters
The target of a jump comes from the model's answer. Unless the schema makes the model choose among existing steps, an
answer can fit the schema and still lead nowhere.

## How to fix
Require the target at every level of the output schema and list the steps it can be as its `enum` or `const`, or give
`transitions.jump` a `target` that is taken when the answer names no step.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.contract.schemas import Miss
from stagec.core.nearest import hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.answers import Reading, open_jump, strangers
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:beyond.jump-needs-target",
        "steps-registry:flow.intent-without-transition",
        "rulings:R10",
        "steps-registry:route.jump-target",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        reading = open_jump(registry, step)
        if reading is not None and step.output is not None:
            what = f"step {quote(step.key)} has no transition for 'jump', and its target {quote(reading.path)}"
            message = f"{what} {_why(registry, step, reading)}"
            optional = reading.promised.optional
            related = () if optional is None else (Related(optional.at, "this schema lets it be left out"),)
            lost = strangers(registry, step)
            yield Finding(reading.at if lost else step.at / "transitions" / "jump", message, related)


def _why(registry: Registry, step: Step, reading: Reading) -> str:
    lost = strangers(registry, step)
    if lost:
        near = hint(str(lost[0]), registry.step_names)
        return f"can be {listing(lost, 'or')}, but there is no such step{near}"
    if reading.promised.presence is Presence.UNDECLARED:
        return "is not declared in its output schema"
    values = step.output.values.get(reading.path) if step.output is not None else None
    if reading.is_involved or values is Miss.INVOLVED:
        return "can be anything, as far as can be told: its output schema is too involved"
    if values is Miss.NO_MEMBER:
        return "can be anything: its output schema names no values"
    return "can be missing from an answer"
