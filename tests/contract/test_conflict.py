"""Two schemas conflict when it is certain that no value fits both."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Place, pointer_text
from stagec.sources.contract.conflict import Conflict, conflict, emptiness
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources

OFFERED, DEMANDED = Place("offered.json"), Place("demanded.json")


def _conflict(offered: Json, demanded: Json) -> Conflict | None:
    schemas = Schemas(Sources(Path("/nowhere"), Budgets()))
    return conflict(schemas, Schema(offered, OFFERED), Schema(demanded, DEMANDED))


def _having(name: str, schema: Json, **more: Json) -> dict[str, Json]:
    return {"type": "object", "required": [name], "properties": {name: schema}, **more}


TEXT: Json = {"type": "string"}
CLOSED: dict[str, Json] = {"additionalProperties": False}


@pytest.mark.parametrize(
    ("offered", "demanded", "path"),
    [
        (TEXT, {"type": "array"}, ""),
        ({"type": "integer"}, {"enum": ["a", 1.5]}, ""),
        ({"enum": ["a", 1]}, {"enum": ["b", True]}, ""),
        ({"const": "a"}, {"enum": ["b"]}, ""),
        ({"type": "number", "maximum": 3}, {"minimum": 4}, ""),
        ({"type": "number", "maximum": 3}, {"exclusiveMinimum": 3}, ""),
        ({"type": "number", "exclusiveMaximum": 3}, {"exclusiveMinimum": 3}, ""),
        ({"enum": [1, 2]}, {"minimum": 3}, ""),
        ({"type": "string", "maxLength": 3}, {"minLength": 4}, ""),
        ({"type": "array", "maxItems": 3}, {"minItems": 4}, ""),
        (_having("a", TEXT, **CLOSED), {"required": ["b"]}, "b"),
        (_having("a", TEXT), {"properties": {}, **CLOSED}, "a"),
        (_having("a", TEXT), {"properties": {"a": {"type": "null"}}}, "a"),
        (_having("a", _having("b", TEXT)), {"properties": {"a": {"properties": {"b": {"const": 1}}}}}, "a.b"),
        (_having("a", TEXT), {"properties": {"a": False}}, "a"),
        ({"type": "array", "minItems": 1, "items": TEXT}, {"items": {"type": "null"}}, "0"),
        ({"anyOf": [_having("a", TEXT), _having("a", {"const": 1})]}, {"properties": {"a": {"const": 2}}}, "a"),
        (
            _having("a", TEXT),
            {"oneOf": [{"type": "null"}, {"required": ["a"], "properties": {"a": {"const": 1}}}]},
            "a",
        ),
        (
            {"$defs": {"t": TEXT}, "allOf": [_having("a", TEXT)]},
            {"allOf": [{"properties": {"a": {"type": "array"}}}]},
            "a",
        ),
    ],
)
def test_a_conflict_is_found_at_its_path(offered: Json, demanded: Json, path: str) -> None:
    found = _conflict(offered, demanded)
    assert found is not None
    assert ".".join(found.path) == path


@pytest.mark.parametrize(
    ("offered", "demanded"),
    [
        (TEXT, {}),
        ({"type": "integer"}, {"type": "number"}),
        ({"enum": [1, 2]}, {"enum": [2.0, 3]}),
        ({"maximum": 3}, {"minimum": 4}),  # a text fits both
        ({"type": "number", "maximum": 3}, {"minimum": 3}),
        (_having("a", TEXT), {"required": ["b"]}),
        ({"type": "object", "properties": {"a": TEXT}}, {"properties": {"a": {"type": "null"}}}),
        ({"type": "array", "items": TEXT}, {"items": {"type": "null"}}),
        ({"anyOf": [_having("a", TEXT), _having("a", {"const": 1})]}, {"properties": {"a": {"const": 1}}}),
        ({"type": "object", "patternProperties": {"^b.$": TEXT}, **CLOSED}, {"required": ["b1"]}),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}),
        ({"$ref": "nowhere.json"}, {"type": "string"}),
    ],
)
def test_what_may_fit_both_or_cannot_be_told_is_no_conflict(offered: Json, demanded: Json) -> None:
    assert _conflict(offered, demanded) is None


def test_a_schema_that_nothing_fits_has_no_conflict_with_another() -> None:
    assert _conflict({"allOf": [TEXT, {"type": "null"}]}, {"type": "array"}) is None


def test_both_sides_of_a_conflict_are_shown() -> None:
    found = _conflict(_having("a", TEXT), {"properties": {"a": {"type": "null"}}})
    offered, demanded = OFFERED / "properties" / "a", DEMANDED / "properties" / "a"
    assert found == Conflict(("a",), offered, demanded, demanded / "type", offered / "type")


def test_a_schema_that_contains_itself_is_not_followed_for_ever() -> None:
    endless = _having("a", {"$ref": "#"})
    schemas = Schemas(Sources(Path("/nowhere"), Budgets(), {"offered.json": b"{}"}))
    schemas.embed(Schema(endless, OFFERED))
    assert conflict(schemas, Schema(endless, OFFERED), Schema({"required": ["b"]}, DEMANDED)) is None


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({**_having("a", TEXT, **CLOSED), "required": ["a", "b"]}, "required/1"),
        ({"allOf": [_having("a", TEXT)], "const": 1}, "allOf/0/type"),
        (_having("a", {"type": "string", "const": 1}), "properties/a/const"),
        (_having("a", {"enum": [1, 2], "const": 3}), "properties/a/enum"),
        (_having("a", {"enum": [1, 2], "minimum": 3}), "properties/a/enum"),
        (_having("a", {"type": "boolean", "enum": ["true"]}), "properties/a/enum"),
        ({"allOf": [_having("a", TEXT), {"properties": {"a": {"type": "null"}}}]}, "allOf/1/properties/a/type"),
        (_having("a", {"type": "string", "minLength": 2, "maxLength": 1}), "properties/a/minLength"),
        (_having("a", {"type": "number", "minimum": 2, "exclusiveMaximum": 2}), "properties/a/minimum"),
        (_having("a", {"type": "integer", "minimum": 1.1, "maximum": 1.9}), "properties/a/minimum"),
        (_having("a", {"type": "array", "minItems": 2, "maxItems": 1}), "properties/a/minItems"),
        (_having("a", {"type": "array", "minItems": 1, "items": False}), "properties/a/minItems"),
        (
            _having("a", {"type": "array", "minItems": 1, "items": {"type": "string", "const": 1}}),
            "properties/a/items/const",
        ),
        (_having("a", TEXT, maxProperties=0), "maxProperties"),
        (_having("a", TEXT, **CLOSED, minProperties=2), "minProperties"),
        (_having("a", {"$ref": "#"}), "properties/a"),
        (_having("a", {"type": "array", "minItems": 1, "items": {"$ref": "#"}}), "properties/a"),
        ({"required": ["a"], "properties": {"a": False}}, "required/0"),
        ({"type": "object", "anyOf": [{"type": "null"}, {"const": 1}]}, "anyOf"),
    ],
)
def test_what_nothing_satisfies_is_found_at_its_cause(schema: Any, at: str) -> None:
    found = _emptiness(schema)
    assert found is not None
    assert pointer_text(found.at.pointer) == f"/{at}"


def _emptiness(schema: Json) -> Conflict | None:
    schemas = Schemas(Sources(Path("/nowhere"), Budgets(), {"offered.json": json.dumps(schema).encode()}))
    return emptiness(schemas, Schema(schema, OFFERED))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "null", "const": None},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        _having("a", {"anyOf": [{"$ref": "#"}, TEXT]}),
        _having("a", {"type": "array", "items": {"$ref": "#"}}),
        _having("a", {"type": "strnig", "enum": ["x"]}),
        {"type": "object", "anyOf": [{"properties": {"a": False}}, {"required": ["a"]}]},
    ],
)
def test_what_some_value_satisfies_is_not_empty(schema: Any) -> None:
    assert _emptiness(schema) is None


LEAVES: Any = st.sampled_from(
    [
        {"type": "string"},
        {"enum": ["x", 1]},
        {"const": 1},
        {"type": ["integer", "null"]},
        {"minimum": 2},
        {},
        {"type": "number", "maximum": 1},
        {"type": "string", "maxLength": 0},
        {"type": "boolean"},
        {"not": {"const": "x"}},
    ]
)
NAMES = st.lists(st.sampled_from(["a", "b"]), unique=True)
OBJECTS = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.sampled_from(["a", "b"]), LEAVES, max_size=2), "required": NAMES},
    optional={"type": st.just("object"), "additionalProperties": st.just(value=False) | LEAVES},
)
SCHEMAS: Any = OBJECTS | LEAVES | st.builds(lambda *both: {"anyOf": list(both)}, OBJECTS | LEAVES, OBJECTS)
VALUES: list[Any] = ["x", "", "yy", 1, 2, 1.5, -1, True, False, None, []]
OBJECT_VALUES = [
    {name: each for name, each in zip("abc", one, strict=True) if each is not ...}
    for one in product([..., *VALUES], [..., *VALUES], [..., "x"])
]


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_no_value_fits_two_schemas_that_conflict(offered: Any, demanded: Any) -> None:
    found = _conflict(offered, demanded)
    event(f"conflict: {found is not None}")
    if found is not None:
        both = jsonschema_rs.validator_for({"allOf": [offered, demanded]})
        assert [each for each in (*VALUES, *OBJECT_VALUES) if both.is_valid(each)] == []


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_no_object_satisfies_a_schema_that_is_empty(one: Any, other: Any) -> None:
    schema = {"allOf": [one, other]}
    found = _emptiness(schema)
    event(f"empty: {found is not None}")
    if found is not None:
        assert [each for each in OBJECT_VALUES if jsonschema_rs.validator_for(schema).is_valid(each)] == []
