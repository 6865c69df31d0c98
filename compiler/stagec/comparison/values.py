"""The differences of single values and of tables of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.texts import compare_schemas, is_same_schema
from stagec.core.json import Json
from stagec.plan.document import Plan


def list_both(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names of two tables in the order of the alphabet: the order of tables of a plan means nothing."""
    return sorted({*old, *new})


def compare_tables(topic: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[PlanChange]:
    """Yield the differences of two tables of JSON values."""
    for name in list_both(old, new):
        if name not in new:
            yield PlanChange(topic, Action.REMOVED, name=name, before=old[name])
        elif name not in old:
            yield PlanChange(topic, Action.ADDED, name=name, after=new[name])
        elif old[name] != new[name]:
            yield PlanChange(topic, Action.CHANGED, name=name, before=old[name], after=new[name])


def compare_values(topic: str, before: Json, after: Json, *, name: str = "") -> Iterator[PlanChange]:
    """Yield the difference of two values, if there is one; null is nothing."""
    if before == after and type(before) is type(after):
        return
    action = Action.ADDED if before is None else Action.REMOVED if after is None else Action.CHANGED
    yield PlanChange(topic, action, name=name, before=before, after=after)


def compare_contracts(
    topic: str, names: tuple[str | None, str | None], texts: tuple[str | None, str | None], name: str = ""
) -> Iterator[PlanChange]:
    """Yield the difference of two schemas, by the names of their contents, if they are not the same JSON."""
    if is_same_schema(*texts):
        return
    before, after = names
    action = Action.ADDED if before is None else Action.REMOVED if after is None else Action.CHANGED
    yield PlanChange(topic, action, None, name, before, after, compare_schemas(*texts))


def text_of(plan: Plan, content: str | None) -> str | None:
    """Return the text of a content, if there is one."""
    return None if content is None else plan.contents[content]
