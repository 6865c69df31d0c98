"""Prompts and schemas of two plans: whether they say the same, and line by line what differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stagec.change.comparison.change import Action, PlanChange
from stagec.core.json import Json, equal
from stagec.core.value import value
from stagec.ir.plan.act import Choice, Each, Hole, Piece, Supply, Template, Text
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import schema_in

_LINES = 400
"""Lines of each of two texts up to which they are compared line by line: it can cost their product."""
_SHOWN = 40
"""Lines of a difference that are kept."""
_WIDEST = 300
"""Characters of a line of a difference that are kept."""


Flat = tuple[tuple[str, str], ...]


def flatten(template: Template, contents: Mapping[str, str]) -> Flat:
    """Return a template as parts, each `text` or `hole` and what stands there; texts side by side are one."""
    found: list[tuple[str, str]] = []
    todo: list[Piece | str] = [*reversed(template)]
    while todo:
        piece = todo.pop()
        if isinstance(piece, Text):
            before = found.pop()[1] if found and found[-1][0] == "text" else ""
            found.append(("text", before + contents[piece.content]))
        elif isinstance(piece, str):
            found.append(("hole", piece))
        else:
            todo.extend(reversed(_open(piece)))
    return tuple(found)


def _open(piece: Hole | Each | Choice) -> list[Piece | str]:
    """Return the parts of a piece in their order."""
    path = ".".join(json.dumps(part) if "." in str(part) else str(part) for part in piece.path)
    match piece:
        case Each():
            return [f"{{{{#each {path}}}}}", *piece.body, "{{/each}}"]
        case Choice():
            other: list[Piece | str] = ["{{else}}", *piece.otherwise] if piece.otherwise else []
            return [f"{{{{#if {path}}}}}", *piece.then, *other, "{{/if}}"]
        case _:
            return [f"{{{{{path}}}}}"]


def compare_texts(old: str, new: str) -> tuple[str, ...]:
    """Return the lines that are gone, after `-`, and those that are new, after `+`, in their order."""
    before, after = (_split(text) for text in (old, new))
    if max(len(before), len(after)) > _LINES:
        return (f"- {len(before):,} lines", f"+ {len(after):,} lines")
    from difflib import unified_diff

    found = [each for each in unified_diff(before, after, n=0, lineterm="") if not each.startswith("@@")][2:]
    if not found and old != new:
        return (f"{'-' if len(old) > len(new) else '+'} the end of the last line",)
    return _shorten(f"{each[0]} {each[1:]}" for each in found)


def _split(text: str) -> list[str]:
    """Return the lines of a text; an end of another kind stays in its line, where a reader sees it."""
    lines = text.split("\n")
    return [*lines[:-1], *([lines[-1]] if lines[-1] else [])]


def _shorten(lines: Iterable[str]) -> tuple[str, ...]:
    kept = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines]
    return tuple(kept) if len(kept) <= _SHOWN else (*kept[:_SHOWN], f"… {len(kept) - _SHOWN:,} more lines")


@value
class _Spot:
    """Two values at one path of two schemas."""

    path: str
    old: Json
    new: Json


def compare_schemas(old: str | None, new: str | None) -> tuple[str, ...]:
    """Return the removed parts of a schema, after `-`, and the added ones, after `+`, each with its path.

    No line is returned for schemas that are the same but for their layout and the order of their members.
    """
    return _shorten(_differences(*(schema_in("{}" if each is None else each)[0] for each in (old, new))))


def is_same_schema(old: str | None, new: str | None) -> bool:
    """Tell whether two texts of schemas are the same JSON; no schema is the same as one without any keyword."""
    return old == new or equal(*(schema_in("{}" if each is None else each)[0] for each in (old, new)))


def _differences(old: Json, new: Json) -> Iterator[str]:
    todo = [_Spot("", old, new)]
    while todo:
        spot = todo.pop()
        if isinstance(spot.old, dict) and isinstance(spot.new, dict):
            todo.extend(reversed([*_members(spot.path, spot.old, spot.new)]))
        elif isinstance(spot.old, list) and isinstance(spot.new, list):
            yield from _elements(spot.path, spot.old, spot.new)
        elif not equal(spot.old, spot.new):
            yield from (f"- {spot.path}: {_show(spot.old)}", f"+ {spot.path}: {_show(spot.new)}")


def _members(path: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[_Spot]:
    for name in dict.fromkeys((*old, *new)):
        below = f"{path}.{name}" if path else name
        if name not in new or name not in old:
            # a list of one element is compared with an empty one, and tells of the element alone
            yield _Spot(below, [old[name]] if name in old else [], [new[name]] if name in new else [])
        else:
            yield _Spot(below, old[name], new[name])


def _elements(path: str, old: list[Json], new: list[Json]) -> Iterator[str]:
    """Yield the elements that only one of two lists has; for lists in another order, both."""
    texts = [{_key(each) for each in some} for some in (old, new)]
    gone = [each for each in old if _key(each) not in texts[1]]
    fresh = [each for each in new if _key(each) not in texts[0]]
    if not gone and not fresh and not equal(old, new):
        gone, fresh = [old], [new]
    yield from (f"- {path}: {_show(each)}" for each in gone)
    yield from (f"+ {path}: {_show(each)}" for each in fresh)


def _key(given: Json) -> str:
    return json.dumps(given, sort_keys=True)


def _show(given: Json) -> str:
    return json.dumps(given, ensure_ascii=False)


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
        before, after = (write(each[name]) if name in each else None for each in (old, new))
        if before != after:
            action = Action.ADDED if before is None else Action.REMOVED if after is None else Action.CHANGED
            shown: list[Json] = [before, after]
            yield PlanChange(topic, action, None, name, shown[0], shown[1])
