"""A step's prompt is not there.

## Why this matters
A step is its prompt. A run that comes to a step without one cannot go on.

## How to fix
Write the prompt, or correct the coordinates: it lies in `userPromptsBase`, or in `prompts` beside the registry, at
`{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md` when the step has an adaptation and that file exists, and else at
`{c1}/{c2}/{c3}/f_{edition}.md`. `pathTemplate` and `pathTemplateNoAdaptation` state other paths.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import describe_lost_path, promptless, rule

_SHOWN = 3
_OWN = {"c2", "c3", "edition"}


@rule(
    since="0.1",
    origin=("steps-registry:path.prompt-file", "steps-registry:prompt.c3l-not-found", "rulings:R16"),
)
def check(registry: Registry) -> Iterator[Finding]:
    lost, prompts = promptless(registry, replaced=False), registry.prompts
    unused = prompts.list_unused() if lost else NameIndex(())
    for prompt, (step, *others) in lost.items():
        what, member = describe_lost_path(prompts, prompt, unused)
        if prompts.is_empty and len(lost) > 1:
            stated = next((each for each in ("pathTemplateNoAdaptation", "c1") if each in registry.body), "steps")
            yield Finding(
                registry.at / (member if member == "c1" else stated),
                f"none of the {len(lost)} prompts is there: {what}",
            )
            return
        have = f" and {len(others)} more have" if others else " has"
        related = tuple(Related(other.at.key, "needs it too") for other in others[:_SHOWN])
        yield Finding(_place(step, member), f"step {quote(step.key)}{have} no prompt: {what}", related)


def _place(step: Step, member: str | None) -> Place:
    """Return the one coordinate that is likely wrong, else the step."""
    return step.address.at / member if member in _OWN and member in step.address.body else step.at.key
