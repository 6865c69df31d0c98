"""Results of stages: a schema, and all kinds of answers that satisfy it, as far as cases tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

Json = Any
Known = Mapping[str, Json]
"""What is known of a result, by path: a value, or `ANY` where it is there and may be anything."""
ANY = object()
_MOST = 48
_CHOICES: tuple[tuple[Json, ...], ...] = (
    ("low", "high"),
    ("low", "middle", "high"),
    (True, False),
    (0, 1, 2),
    ("a", None),
    ("1", 1),
    ("only",),
)


class Member(NamedTuple):
    """A member of a result: its schema, what it may be (a path below it to what is known), and whether it is there."""

    name: str
    schema: Json
    possible: Sequence[Known]
    is_required: bool


class Result(NamedTuple):
    """A schema, and what results that satisfy it look like."""

    schema: Json
    variants: Sequence[Known]
    items: Json = None
    """The schema of the elements of its list."""


def make_result(random: Random, listed: int | None = None) -> Result:
    """Make a result; one member is a list of at most `listed` elements."""
    members = [_make_member(random, f"m{at}") for at in range(random.randint(0, 3))]
    items = None
    if listed is not None:
        members.append(_make_list(random, listed))
        items = members[-1].schema["items"]
    while len([*_combine(members)]) > _MOST:
        members.pop(0)
    told = [*_combine(members)]
    schema = _write(random, members, is_root=True)
    if members and random.random() < 0.25:
        return _unite(random, schema, told, items)
    return Result(schema, told, items)


def _make_member(random: Random, name: str) -> Member:
    is_required = random.random() < 0.7
    match random.choice(("choice", "choice", "choice", "text", "number", "range", "nested")):
        case "choice":
            values = random.choice(_CHOICES)
            return Member(name, _write_choice(random, values), [{"": each} for each in values], is_required)
        case "range":
            schema = {"type": "integer", "minimum": 1, "maximum": 3}
            return Member(name, schema, [{"": each} for each in (1, 2, 3)], is_required)
        case "nested":
            inner = _make_member(random, "in")
            schema = _write(random, [inner])
            possible = [{"": ANY, **each} for each in _combine([inner])]
            return Member(
                name,
                schema,
                [{path and f".{path}": known for path, known in each.items()} for each in possible],
                is_required,
            )
        case "text":
            return Member(name, {"type": "string", "minLength": 1}, [{"": ANY}], is_required)
        case _:
            return Member(name, {"type": "number"}, [{"": ANY}], is_required)


def _make_list(random: Random, most: int) -> Member:
    items = random.choice(
        (
            {"type": "string"},
            {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}},
        )
    )
    return Member("list", {"type": "array", "maxItems": most, "items": items}, [{"": ANY}], is_required=True)


def _write_choice(random: Random, values: Sequence[Json]) -> Json:
    forms: list[Json] = [{"enum": [*values]}, {"oneOf": [{"const": each} for each in values]}]
    forms.append({"anyOf": [{"enum": [*values[:1]]}, {"enum": [*(values[1:] or values)]}]})
    if {*map(type, values)} == {bool}:
        forms.append({"type": "boolean"})
    if {*map(type, values)} == {str}:
        forms.append({"type": "string", "enum": [*values]})
    if len(values) == 1:
        forms.append({"const": values[0]})
    return random.choice(forms)


def _write(random: Random, members: Sequence[Member], *, is_root: bool = False) -> Json:
    schema: Json = {
        "type": "object",
        "required": [each.name for each in members if each.is_required],
        "properties": {each.name: each.schema for each in members},
    }
    if random.random() < 0.6:
        schema["additionalProperties"] = False
    if is_root and members and random.random() < 0.2:
        schema["$defs"] = {members[0].name: members[0].schema}
        schema["properties"][members[0].name] = {"$ref": f"#/$defs/{members[0].name}"}
    return schema


def _combine(members: Sequence[Member]) -> Iterable[Known]:
    absent: Known = {}
    ways = [[*each.possible, *([] if each.is_required else [absent])] for each in members]
    for chosen in product(*ways):
        yield {
            member.name + path: known
            for member, one in zip(members, chosen, strict=True)
            for path, known in one.items()
        }


def _unite(random: Random, schema: Json, variants: Sequence[Known], items: Json) -> Result:
    """Tell two kinds of results apart, of which one has a member more."""
    kinds = ("done", "stuck")
    if "$defs" in schema:
        return Result(schema, variants, items)
    common = schema["properties"]
    more = {"why": {"type": "string"}}

    def write(kind: str) -> Json:
        own = {"kind": {"const": kind}, **(more if kind == "stuck" else {})}
        closed = {key: each for key, each in schema.items() if key == "additionalProperties"}
        return {"type": "object", "required": [*schema["required"], *own], "properties": {**common, **own}, **closed}

    parts = [write(each) for each in kinds]
    whole = {"type": "object", random.choice(("oneOf", "anyOf")): parts}
    told = [{**each, "kind": kind} for each in variants for kind in kinds]
    has_why = [{**each, "why": ANY} for each in told if each["kind"] == "stuck" or "additionalProperties" not in schema]
    return Result(whole, [*(each for each in told if each["kind"] == "done"), *has_why], items)
