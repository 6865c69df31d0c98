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
from stagec.frontends.registry.document import Registry
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
        if reading is not None and not reading.is_uncertain:
            what = f"step {quote(step.key)} has no transition for 'jump', and its target {quote(reading.path)}"
            message = f"{what} {_why(registry, reading)}"
            optional = reading.promised.optional
            related = () if optional is None else (Related(optional.at, "this schema lets it be left out"),)
            lost = strangers(registry, reading)
            yield Finding(reading.at if lost else step.at / "transitions" / "jump", message, related)


def _why(registry: Registry, reading: Reading) -> str:
    lost = strangers(registry, reading)
    if lost:
        near = hint(str(lost[0]), registry.step_names)
        return f"can be {listing(lost, 'or')}, but there is no such step{near}"
    if reading.promised.presence is Presence.UNDECLARED:
        return "is not declared in its output schema"
    if reading.values is Miss.NO_MEMBER:
        return "can be anything: its output schema names no values"
    return "can be missing from an answer"
