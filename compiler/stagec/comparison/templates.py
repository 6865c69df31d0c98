"""What differs in two prompts, and where the values of their variables come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.texts import compare_texts, flatten
from stagec.core.json import Json
from stagec.plan.act import Supply
from stagec.plan.act_codecs import SUPPLY
from stagec.plan.template import Template

Contents = tuple[Mapping[str, str], Mapping[str, str]]
"""The contents of the old plan and of the new one."""


def compare_templates(
    topic: str, old: Template | None, new: Template | None, *, contents: Contents, name: str = ""
) -> Iterator[PlanChange]:
    """Yield the difference of two templates, line by line, if there is one; a text in other pieces is the same."""
    before, after = (
        None if each is None else flatten(each, known) for each, known in zip((old, new), contents, strict=True)
    )
    if before == after:
        return
    action = Action.ADDED if before is None else Action.REMOVED if after is None else Action.CHANGED
    texts = ("".join(text for _, text in each or ()) for each in (before, after))
    yield PlanChange(topic, action, name=name, lines=compare_texts(*texts))


def compare_variables(topic: str, old: Mapping[str, Supply], new: Mapping[str, Supply]) -> Iterator[PlanChange]:
    """Yield the variables that only one side has, and those whose values come from elsewhere now."""
    for name in sorted({*old, *new}):
        before, after = (SUPPLY.write(each[name]) if name in each else None for each in (old, new))
        if before != after:
            action = Action.ADDED if before is None else Action.REMOVED if after is None else Action.CHANGED
            shown: list[Json] = [before, after]
            yield PlanChange(topic, action, None, name, shown[0], shown[1])
