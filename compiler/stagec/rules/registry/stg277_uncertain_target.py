"""It cannot be told whether every answer leads on.

## Why this matters
A conditional transition without a `default`, and a jump without a transition, need a value that is always there and
always has a case. Here the output schema says so in ways that stagec does not follow. If an answer fits the schema and
has no case, the run fails.

## How to fix
Add a `default`, or a `target` for the jump. Or say it more plainly: require the value and list what it can be as its
`enum`, in the branch of the intent.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.answers import Reading, conditionals, open_jump
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_WHY = "its output schema is too involved to tell"


@rule(since="0.1", origin=("steps-registry:beyond.conditional-domain", "rulings:R9"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for at, reading, message in _list_uncertain(registry, step):
            yield Finding(at, f"step {quote(step.key)} {message}", (Related(reading.at, "the value that decides"),))


def _list_uncertain(registry: Registry, step: Step) -> Iterator[tuple[Place, Reading, str]]:
    for each in conditionals(step):
        if each.is_open and each.reading is not None and each.reading.is_uncertain:
            chosen = f"chooses by {quote(each.condition)} on {quote(each.intent)} without a default"
            yield each.at / "targets", each.reading, f"{chosen}, and {_WHY} that every answer has a case"
    reading = open_jump(registry, step)
    if reading is not None and reading.is_uncertain:
        what = f"has no transition for 'jump', and {_WHY} that its target {quote(reading.path)} is always a step"
        yield step.at / "transitions" / "jump", reading, what
