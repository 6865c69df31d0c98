"""A step lists a validation step that does not exist.

## Why this matters
`validationSteps` of a step is in released registries, although no schema and no program of climpt 1.14 knows it. A
reader takes it for the list of what guards the step, and a name in it that leads to nothing guards nothing.

## How to fix
Correct the name, or delete the list.
"""

from collections.abc import Iterator

from stagec.core.json import list_of
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import report_unknown, rule


@rule(since="0.1", origin=("climpt-1.14:step.validation-list",))
def check(registry: Registry) -> Iterator[Finding]:
    known, lost = NameIndex(registry.validation_steps), list[Mention]()
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        for index, name in enumerate(list_of(step.body.get("validationSteps"))):
            if isinstance(name, str) and name not in known:
                lost.append(Mention(name, step.at / "validationSteps" / index))
    yield from report_unknown(lost, known, lambda each: f"there is no validation step {quote(each.name)}")
