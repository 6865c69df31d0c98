"""A run is led into a section.

## Why this matters
A section is a part of prompts: a step whose `c2` is `section` or whose name begins with `section.`. It asks for no
answer and leads nowhere, so a run that enters it is lost.

## How to fix
Lead to a step of a phase instead.
"""

from collections.abc import Collection, Iterable, Iterator

from stagec.core.nearest import NameIndex
from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Intent, Registry, Step
from stagec.rules.registry import report_unknown, rule


@rule(
    since="0.1",
    origin=("rulings:R18", "steps-registry:flow.boundary", "steps-registry:beyond.jump-needs-target"),
)
def check(registry: Registry) -> Iterator[Finding]:
    sections = {step.key: step for step in registry.steps.values() if step.is_section and not step.surplus}
    if sections:
        names = {*sections, *(step.id for step in sections.values())}
        yield from report_unknown(_mentions(registry, names), NameIndex(()), _sentence)


def _mentions(registry: Registry, names: Collection[str | None]) -> Iterator[Mention]:
    for step in registry.steps.values():
        for move in step.moves:
            if move.target in names and move.target is not None and move.intent != Intent.CLOSING:
                yield step.mention(move)
        if step.output is not None and step.output.targets:
            yield from _answers(step, step.output.targets, names)
    yield from (entry for entry in registry.begun if entry.name in names)


def _answers(step: Step, targets: Iterable[object], names: Collection[str | None]) -> Iterator[Mention]:
    if step.gate is not None and Intent.JUMP in step.gate.allowed:
        for value in targets:
            if isinstance(value, str) and value in names:
                yield Mention(value, step.gate_at / "targetField")


def _sentence(mention: Mention) -> str:
    top, *rest = mention.at.pointer
    if top != "steps":
        return f"runs begin at {quote(mention.name)}, which is a section and never runs"
    way = "can name" if rest[1] == "structuredGate" else "goes to"
    by = " as the target of a jump" if rest[1] == "structuredGate" else f" on {quote(rest[2])}"
    return f"step {quote(rest[0])} {way} {quote(mention.name)}{by}, which is a section and never runs"
