"""The output schema of a step asks for the id of another step.

## Why this matters
An answer that fits the schema calls itself by another step's name. Some runners rewrite it without a word, others take
the answer for that of the other step. A schema that several steps share is not judged.

## How to fix
Write the step's own id as the `const` of `stepId`, or refer to the schema that was meant.
"""

from collections.abc import Collection, Iterator

from stagec.contract.schemas import Schema
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.stepid-const",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    askers: dict[Place, list[tuple[Step, str]]] = {}
    for users in _users(registry):
        if (asked := _find_asked(users[0])) is not None:
            askers.setdefault(asked[1], []).extend((step, asked[0]) for step in users)
    for at, ((step, wanted), *others) in askers.items():
        if not others and wanted not in {step.key, step.id}:  # what several steps share is no step's own
            message = f"the output schema of step {quote(step.key)} asks for the stepId {quote(wanted)}"
            yield Finding(at, message, (Related(step.at / "outputSchemaRef", "the step that answers so"),))


def _users(registry: Registry) -> Collection[list[Step]]:
    """Return the steps by output: in large registries many share one."""
    found: dict[int, list[Step]] = {}
    for step in registry.steps.values():
        if step.output is not None:
            found.setdefault(id(step.output), []).append(step)
    return found.values()


def _find_asked(step: Step) -> tuple[str, Place] | None:
    """Return the one value that a step's schema allows for `stepId`, and where it stands."""
    found = step.output.found if step.output is not None else None
    members = found.value.get("properties") if isinstance(found, Schema) and isinstance(found.value, dict) else None
    member = members.get("stepId") if isinstance(members, dict) else None
    if not isinstance(found, Schema) or not isinstance(member, dict) or not isinstance(member.get("const"), str):
        return None
    return str(member["const"]), found.at / "properties" / "stepId" / "const"
