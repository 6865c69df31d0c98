"""What a schema says about a path: whether something is there, and which values that can be."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stagec.core.budgets import Budgets
from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.sources.contract.choices import Choices, choices, follow_pointer
from stagec.sources.contract.promise import Presence, Promise, find_excluded, possible_values, promise
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
SURE, POSSIBLE, UNDECLARED = Presence.SURE, Presence.POSSIBLE, Presence.UNDECLARED
IMPOSSIBLE, UNKNOWABLE = Presence.IMPOSSIBLE, Presence.UNKNOWABLE


def _about(root: Path, schema: Json, path: str, **files: Json) -> tuple[Schemas, Promise]:
    for name, content in {"a": schema, **files}.items():
        (root / f"{name}.json").write_text(json.dumps(content))
    schemas = Schemas(Sources(root, Budgets()))
    found = schemas.root("a.json")
    assert isinstance(found, Schema)
    return schemas, promise(schemas, found, path.split(".") if path else ())


def _presence(root: Path, schema: Json, path: str, **files: Json) -> Presence:
    return _about(root, schema, path, **files)[1].presence


def _values(root: Path, schema: Json, path: str, **files: Json) -> object:
    schemas, promised = _about(root, schema, path, **files)
    found = possible_values(schemas, promised)
    return list(found) if isinstance(found, tuple) else found


def _object(*required: str, **properties: Json) -> dict[str, Json]:
    return {"type": "object", "required": list(required), "properties": properties}


CLOSED: Object = {"additionalProperties": False}
TEXT: Object = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        (_object("a", a=TEXT), "a", SURE),
        (_object(a=TEXT), "a", POSSIBLE),
        (_object(a=TEXT), "b", UNDECLARED),
        ({**_object(a=TEXT), **CLOSED}, "b", IMPOSSIBLE),
        (_object("a", a=_object("b", b=TEXT)), "a.b", SURE),
        (_object(a=_object("b", b=TEXT)), "a.b", POSSIBLE),
        (_object("a", a=_object(b=TEXT)), "a.b", POSSIBLE),
        (_object("a", a=_object(b=TEXT)), "a.c", UNDECLARED),
        (_object(a={**_object(b=TEXT), **CLOSED}), "a.c", IMPOSSIBLE),
        (_object("a", a=TEXT), "a.b", IMPOSSIBLE),
        (_object("a", a={"enum": ["x", "y"]}), "a.b", IMPOSSIBLE),
        (_object("a", a={}), "a.b", UNDECLARED),
        (_object("a"), "a", SURE),
        (_object("a"), "a.b", UNDECLARED),
        (_object("b", a=TEXT), "", SURE),
        ({"required": "a", "properties": []}, "a", UNDECLARED),
    ],
)
def test_required_optional_undeclared_and_forbidden(
    tmp_path: Path, schema: Json, path: str, presence: Presence
) -> None:
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({"allOf": [_object(a=TEXT), {"required": ["a"]}]}, "a", SURE),
        ({"allOf": [_object(a=TEXT), {**_object(b=TEXT), **CLOSED}]}, "a", IMPOSSIBLE),
        ({"allOf": [_object("a", a=_object(b=TEXT)), _object(a=_object("b"))]}, "a.b", SURE),
        ({"allOf": [TEXT, _object("a", a=TEXT)]}, "a", IMPOSSIBLE),
        ({"allOf": [{"allOf": [{"allOf": [_object("a", a=TEXT)]}]}]}, "a", SURE),
        ({"$ref": "#/$defs/x", "required": ["a"], "$defs": {"x": _object(a=TEXT)}}, "a", SURE),
        ({"$ref": "#/$defs/x", "properties": {"a": TEXT}, "$defs": {"x": {"required": ["a"]}}}, "a", POSSIBLE),
        ({"$ref": "#/$defs/x", "type": "object", "$defs": {"x": {"required": ["a"]}}}, "a", SURE),
        ({"$ref": "#/$defs/x", **CLOSED, "$defs": {"x": _object("a", a=TEXT)}}, "a", IMPOSSIBLE),
    ],
)
def test_parts_that_hold_together_count_together(tmp_path: Path, schema: Json, path: str, presence: Presence) -> None:
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("branches", "path", "presence"),
    [
        ([_object("a", a=TEXT), _object("a", "b", a=TEXT, b=TEXT)], "a", SURE),
        ([_object("a", a=TEXT), _object("b", b=TEXT)], "a", POSSIBLE),
        ([_object("a", a=TEXT), {**_object("b", b=TEXT), **CLOSED}], "a", POSSIBLE),
        ([{**_object(b=TEXT), **CLOSED}, {**_object(c=TEXT), **CLOSED}], "a", IMPOSSIBLE),
        ([{**_object(b=TEXT), **CLOSED}, _object(c=TEXT)], "a", UNDECLARED),
        ([_object("a", a=TEXT), {"type": "null"}], "a", POSSIBLE),
        ([{"anyOf": [_object("a", a=TEXT), _object("a", a={})]}, _object("a", a=TEXT)], "a", SURE),
        (
            [_object("a", a={**_object(b=TEXT), **CLOSED}), _object("a", a={**_object(c=TEXT), **CLOSED})],
            "a.b",
            POSSIBLE,
        ),
        ([_object("a", a=_object("b", b=TEXT)), _object("a", a=_object("b", b=TEXT))], "a.b", SURE),
    ],
)
def test_of_alternatives_one_holds(
    tmp_path: Path, keyword: str, branches: list[Json], path: str, presence: Presence
) -> None:
    assert _presence(tmp_path, {keyword: branches}, path) is presence


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({**_object("a", a=TEXT), "anyOf": [_object(b=TEXT), _object(c=TEXT)]}, "a", SURE),
        ({**_object(a=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["a", "b"]}]}, "a", SURE),
        ({**_object(a=TEXT), **CLOSED, "anyOf": [_object("b", b=TEXT), _object("a")]}, "b", IMPOSSIBLE),
        ({**_object(a=TEXT), "anyOf": [{"type": "null"}, {"required": ["a"]}]}, "a", SURE),
        ({"type": "object", "anyOf": []}, "a", UNDECLARED),
        (_object("a", a={"anyOf": [_object("b", b=TEXT), {"type": "null"}]}), "a.b", POSSIBLE),
        (_object("a", a={"anyOf": [_object("b", b=TEXT), {"type": "null"}]}), "a.c", UNDECLARED),
        (_object("a", a={"type": ["object", "null"], "required": ["b"], "properties": {"b": {}}}), "a.b", POSSIBLE),
    ],
)
def test_alternatives_hold_together_with_what_is_beside_them(
    tmp_path: Path, schema: Json, path: str, presence: Presence
) -> None:
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize(
    ("schema", "presence"),
    [
        ({"if": {}, "then": {"required": ["a"]}, "else": {"required": ["a"]}, **_object(a=TEXT)}, SURE),
        ({"if": {}, "then": {"required": ["a"]}, "properties": {"a": TEXT}}, POSSIBLE),
        ({"if": {"required": ["b"]}, "then": _object("a", a=TEXT), "else": CLOSED}, POSSIBLE),
        ({"if": {}, "then": {"properties": {"b": {}}}}, UNDECLARED),
        ({"then": _object("a", a=TEXT), "else": _object("a", a=TEXT)}, UNDECLARED),
    ],
)
def test_conditions_are_alternatives_too(tmp_path: Path, schema: Json, presence: Presence) -> None:
    assert _presence(tmp_path, schema, "a") is presence


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({"patternProperties": {"^x-": TEXT}}, "x-a", POSSIBLE),
        ({"patternProperties": {"^x-": TEXT}, **CLOSED}, "x-a", POSSIBLE),
        ({"patternProperties": {"^x-": TEXT}, **CLOSED}, "y-a", IMPOSSIBLE),
        ({"patternProperties": {"-a$": TEXT}}, "x-a", POSSIBLE),
        ({"patternProperties": {"^a$": TEXT}}, "aa", UNDECLARED),
        ({"patternProperties": {"mid": False}}, "amid", IMPOSSIBLE),
        ({"patternProperties": {"^[a-z]+$": TEXT}, **CLOSED}, "a", UNKNOWABLE),
        ({"properties": {"a": {}}, "required": ["a"], "patternProperties": {"^.$": TEXT}}, "a.b", UNKNOWABLE),
        ({"additionalProperties": _object("b", b=TEXT), "required": ["a"], "type": "object"}, "a.b", SURE),
        ({"additionalProperties": TEXT}, "a", POSSIBLE),
        ({"additionalProperties": TEXT, "properties": {"a": {}}}, "a.b", UNDECLARED),
        ({"additionalProperties": True}, "a", UNDECLARED),
        ({"additionalProperties": {}}, "a", UNDECLARED),
    ],
)
def test_members_that_are_not_named_one_by_one(tmp_path: Path, schema: Json, path: str, presence: Presence) -> None:
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize(
    ("schema", "presence"),
    [
        ({"unevaluatedProperties": False}, IMPOSSIBLE),
        ({"unevaluatedProperties": False, "allOf": [_object("a", a=TEXT)]}, SURE),
        ({"unevaluatedProperties": False, "anyOf": [_object(a=TEXT), _object(b=TEXT)]}, POSSIBLE),
        ({"unevaluatedProperties": False, "allOf": [{"additionalProperties": True}]}, UNKNOWABLE),
        ({"unevaluatedProperties": False, "allOf": [{"$ref": "gone.json"}]}, UNKNOWABLE),
    ],
)
def test_unevaluated_properties_close_only_what_nothing_speaks_of(
    tmp_path: Path, schema: Json, presence: Presence
) -> None:
    assert _presence(tmp_path, schema, "a") is presence


@pytest.mark.parametrize(
    ("schema", "presence"),
    [
        ({"allOf": [True]}, UNDECLARED),
        ({"allOf": [False]}, IMPOSSIBLE),
        ({"properties": {"a": True}}, POSSIBLE),
        ({"properties": {"a": False}}, IMPOSSIBLE),
        ({"allOf": [True, _object("a", a=TEXT)]}, SURE),
        ({"allOf": [False, _object("a", a=TEXT)]}, IMPOSSIBLE),
        ({"anyOf": [False, _object("a", a=TEXT)]}, SURE),
        ({"anyOf": [True, _object("a", a=TEXT)]}, POSSIBLE),
    ],
)
def test_boolean_schemas_accept_everything_or_nothing(tmp_path: Path, schema: Json, presence: Presence) -> None:
    assert _presence(tmp_path, schema, "a") is presence


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({"type": "array", "items": TEXT}, "0", POSSIBLE),
        ({"type": "array", "items": TEXT, "minItems": 2}, "1", SURE),
        ({"type": "array", "items": TEXT, "minItems": 2}, "2", POSSIBLE),
        ({"type": "array", "items": TEXT, "maxItems": 2}, "2", IMPOSSIBLE),
        ({"type": "array", "prefixItems": [TEXT], "items": False}, "0", POSSIBLE),
        ({"type": "array", "prefixItems": [TEXT], "items": False}, "1", IMPOSSIBLE),
        ({"$schema": DRAFT_7, "type": "array", "items": [TEXT, _object("b", b={})], "minItems": 2}, "1.b", SURE),
        ({"$schema": DRAFT_7, "type": "array", "items": [TEXT], "additionalItems": False}, "1", IMPOSSIBLE),
        ({"type": "array", "items": [TEXT]}, "1", UNDECLARED),
        ({"type": "array"}, "0", UNDECLARED),
        ({"type": "array", "items": TEXT}, "first", IMPOSSIBLE),
        ({"items": TEXT, "minItems": 1}, "0", POSSIBLE),
        ({"items": TEXT, "minItems": 1, "enum": [["a"]]}, "0", SURE),
        (_object("0", **{"0": TEXT}), "0", SURE),
        ({"type": ["array", "object"], "items": TEXT}, "0", UNKNOWABLE),
    ],
)
def test_elements_of_arrays_are_named_by_index(tmp_path: Path, schema: Json, path: str, presence: Presence) -> None:
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize("path", ["next", "next.next", ".".join(["next"] * 2_000)])
def test_a_schema_may_contain_itself(tmp_path: Path, path: str) -> None:
    assert _presence(tmp_path, _object("next", next={"$ref": "#"}), path) is SURE


def test_alternatives_that_contain_themselves_end(tmp_path: Path) -> None:
    schema = {"anyOf": [{"$ref": "#"}, _object("a", a={"$ref": "#"})]}
    assert _presence(tmp_path, schema, ".".join("a" * 500)) in {POSSIBLE, UNKNOWABLE}


def test_too_many_combinations_are_not_looked_at(tmp_path: Path) -> None:
    many = {"allOf": [{"anyOf": [_object("a", a=TEXT), {"required": [str(each)]}]} for each in range(40)]}
    assert _presence(tmp_path, many, "a") is UNKNOWABLE


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({"$ref": "gone.json"}, "a", UNKNOWABLE),
        ({"properties": {"a": {}}, "$ref": "gone.json"}, "a", UNKNOWABLE),
        ({"properties": {"a": {}}, "required": ["a"], "$ref": "gone.json"}, "a", SURE),
        ({"properties": {"a": {}}, "required": ["a"], "$ref": "gone.json"}, "a.b", UNKNOWABLE),
        ({**_object(a=TEXT), **CLOSED, "$ref": "gone.json"}, "b", IMPOSSIBLE),
        ({"anyOf": [{"$ref": "gone.json"}, _object("a", a=TEXT)]}, "a", UNKNOWABLE),
        ({"anyOf": [{"$ref": "gone.json"}, _object(a=TEXT)]}, "a", POSSIBLE),
        (_object(a={"$ref": "gone.json"}), "a", POSSIBLE),
        (_object("a", a={"$ref": "broken.json"}), "a.b", UNKNOWABLE),
        (_object("a", a={"$ref": "http://127.0.0.1/a.json"}), "a.b", UNKNOWABLE),
    ],
)
def test_what_cannot_be_read_may_say_anything(tmp_path: Path, schema: Json, path: str, presence: Presence) -> None:
    (tmp_path / "broken.json").write_text("{")
    assert _presence(tmp_path, schema, path) is presence


@pytest.mark.parametrize(
    "keyword",
    [
        {"not": {}},
        {"minProperties": 1},
        {"dependentRequired": {"b": ["a"]}},
        {"dependentSchemas": {name: {"required": ["a"]} for name in "bcdef"}},
    ],
)
def test_what_may_require_a_member_in_involved_ways_leaves_it_open(tmp_path: Path, keyword: Json) -> None:
    assert _presence(tmp_path, {**_object(a=TEXT), **keyword}, "a") is UNKNOWABLE


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    ("draft", "keyword"),
    [
        ("draft/2020-12/schema", "dependentSchemas"),
        ("draft/2019-09/schema", "dependentSchemas"),
        ("draft-07/schema#", ""),
    ],
)
def test_a_member_may_demand_others(tmp_path: Path, draft: str, keyword: str, *, required: bool) -> None:
    address = f"http{'s' * bool(keyword)}://json-schema.org/{draft}"
    demand = {keyword or "dependencies": {"b": {"required": ["a"]}}}
    schema: Json = {"$schema": address, **_object(a=TEXT), **demand, "required": ["b"] if required else []}
    assert _presence(tmp_path, schema, "a") is (Presence.SURE if required else Presence.POSSIBLE)


@pytest.mark.parametrize(
    "keyword", [{"minProperties": 1}, {"dependentRequired": {"a": ["b"]}}, {"dependencies": {"a": ["b"]}}]
)
def test_what_cannot_require_a_member_leaves_nothing_open(tmp_path: Path, keyword: Json) -> None:
    assert _presence(tmp_path, {**_object("b", a=TEXT, b=TEXT), **keyword}, "a") is POSSIBLE


def test_members_of_values_that_are_named_whole_are_not_looked_into(tmp_path: Path) -> None:
    assert _presence(tmp_path, _object("a", a={"const": {"b": 1}}), "a.b") is UNKNOWABLE


def test_the_first_schema_that_does_not_require_its_part_is_named(tmp_path: Path) -> None:
    _, found = _about(tmp_path, _object("a", a=_object(b=_object(c=TEXT))), "a.b.c")
    assert found.optional is not None
    assert found.optional.at == Place("a.json", ("properties", "a"))


def test_of_a_path_that_breaks_off_the_names_declared_there_are_known(tmp_path: Path) -> None:
    schema = _object("a", a={"allOf": [_object(b=TEXT)], "anyOf": [_object(c=TEXT), _object(d=TEXT)]})
    _, found = _about(tmp_path, schema, "a.x.y")
    assert (found.presence, found.followed, set(found.near)) == (UNDECLARED, 1, {"b", "c", "d"})


def test_where_two_parts_ask_for_different_types_they_are_named(tmp_path: Path) -> None:
    schema = {"properties": {"a": {"type": "object", "properties": {"b": TEXT}}}, "allOf": [_object(a=TEXT)]}
    _, found = _about(tmp_path, schema, "a.b")
    assert found.presence is IMPOSSIBLE
    assert found.clash is not None
    assert [part.at.pointer for part in found.clash] == [("properties", "a"), ("allOf", 0, "properties", "a")]


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["x", "y"]}, ["x", "y"]),
        ({"const": "x"}, ["x"]),
        ({"type": "boolean"}, [True, False]),
        ({"type": "null"}, [None]),
        ({"enum": ["x", "y"], "const": "y"}, ["y"]),
        ({"enum": ["x", None], "type": "string"}, ["x"]),
        ({"enum": [1, 1.5, "1"], "type": "integer"}, [1]),
        ({"enum": [1, 1.5], "type": "number"}, [1, 1.5]),
        ({"allOf": [{"enum": ["x", "y"]}, {"enum": ["y", "z"]}]}, ["y"]),
        ({"allOf": [{"enum": [1, True]}, {"enum": [1.0]}]}, [1]),
        ({"$ref": "#/$defs/x", "enum": ["x", "y"], "$defs": {"x": {"enum": ["x"]}}}, ["x"]),
        ({"anyOf": [{"const": "x"}, {"enum": ["y", "x"]}]}, ["x", "y"]),
        ({"oneOf": [{"enum": ["x"]}, {"type": "null"}]}, ["x", None]),
        ({"enum": ["x", "y"], "anyOf": [{"const": "x"}, {"const": "z"}]}, ["x"]),
        ({"anyOf": [{"anyOf": [{"const": 1}, {"const": 2}]}, {"const": 3}]}, [1, 2, 3]),
        ({"if": {}, "then": {"const": 1}, "else": {"const": 2}}, [1]),
        ({"if": {"multipleOf": 7}, "then": {"const": 1}, "else": {"const": 2}}, [2]),
        ({"if": {"pattern": "x"}, "then": {"const": "a"}, "else": {"const": "b"}}, ["a", "b"]),
        ({"enum": [1, 2, 3], "not": {"const": 2}}, [1, 3]),
        ({"enum": [1, 2, "a"], "not": {"type": "integer", "minimum": 2}}, [1, "a"]),
        ({"enum": [1, 2], "not": {"multipleOf": 2}}, [1, 2]),
        ({"enum": ["x"], "$ref": "gone.json"}, ["x"]),
        ({"enum": [{"b": 1}, [1]], "type": ["object", "array"]}, [{"b": 1}, [1]]),
        ({"type": "string"}, Miss.NO_MEMBER),
        (True, Miss.NO_MEMBER),
        ({"anyOf": [{"const": "x"}, TEXT]}, Miss.NO_MEMBER),
        ({"$ref": "gone.json"}, Miss.UNKNOWABLE),
        ({"anyOf": [{"const": "x"}, {"$ref": "gone.json"}]}, Miss.UNKNOWABLE),
    ],
)
def test_possible_values_are_those_that_every_part_names(tmp_path: Path, schema: Json, values: object) -> None:
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    assert _values(tmp_path, {**_object("a", a=schema), "$defs": definitions}, "a") == values


def test_values_of_alternatives_further_up_are_put_together(tmp_path: Path) -> None:
    schema = {"anyOf": [_object("a", a={"enum": ["x", "y"]}), _object("a", a={"const": "z"})]}
    assert _values(tmp_path, schema, "a") == ["x", "y", "z"]


def test_an_alternative_that_says_nothing_of_a_path_leaves_its_values_open(tmp_path: Path) -> None:
    assert _values(tmp_path, {"anyOf": [_object("a", a={"const": "x"}), _object(b=TEXT)]}, "a") is Miss.NO_MEMBER


def test_an_alternative_that_forbids_a_path_adds_no_values(tmp_path: Path) -> None:
    assert _values(tmp_path, {"anyOf": [_object("a", a={"const": "x"}), {**_object(), **CLOSED}]}, "a") == ["x"]


@pytest.mark.parametrize("path", ["b", "a.b"])
def test_a_path_that_leads_to_nothing_has_no_values(tmp_path: Path, path: str) -> None:
    assert _values(tmp_path, _object(a=TEXT), path) is Miss.NO_MEMBER


def test_values_cannot_be_told_where_a_part_around_them_is_unreadable(tmp_path: Path) -> None:
    assert _values(tmp_path, {**_object("a", a=TEXT), "$ref": "gone.json"}, "a") is Miss.UNKNOWABLE


def _excluded(root: Path, schema: Json) -> list[tuple[Json, tuple[object, ...], object]]:
    schemas, promised = _about(root, schema, "a")
    found = schemas.root("a.json")
    assert isinstance(found, Schema)
    at = follow_pointer(schemas, found, "#/properties/a")
    assert isinstance(at, Schema)
    named = choices(schemas, at)
    assert isinstance(named, Choices)
    return [
        (each.given, each.at.pointer, each.by and each.by.pointer) for each in find_excluded(schemas, named, promised)
    ]


def test_a_value_that_another_part_rules_out_is_found_with_that_part(tmp_path: Path) -> None:
    schema = {"properties": {"a": {"enum": ["x", "y"]}}, "allOf": [{"properties": {"a": {"enum": ["x"]}}}]}
    place, by = ("properties", "a", "enum", 1), ("allOf", 0, "properties", "a")
    assert _excluded(tmp_path, schema) == [("y", place, by)]


def test_a_value_of_another_type_is_ruled_out(tmp_path: Path) -> None:
    schema = {"properties": {"a": {"type": "string", "enum": ["x", None]}}}
    assert _excluded(tmp_path, schema) == [(None, ("properties", "a", "enum", 1), ("properties", "a"))]


def test_nothing_is_ruled_out_by_what_cannot_be_read(tmp_path: Path) -> None:
    schema = {"properties": {"a": {"enum": ["x", "y"]}}, "allOf": [{"$ref": "gone.json"}]}
    assert _excluded(tmp_path, schema) == []


_NAMES = st.sampled_from(["a", "b"])
_LEAVES = st.one_of(
    st.booleans(),
    st.builds(
        lambda kind: {"type": kind}, st.sampled_from(["string", "object", "null", ["object", "null"], "boolean"])
    ),
    st.builds(
        lambda values: {"enum": values}, st.lists(st.sampled_from([None, True, "x", 1, {}, {"a": 1}]), min_size=1)
    ),
    st.builds(lambda given: {"const": given}, st.sampled_from(["x", 1, {"a": 1}])),
)


def _grown(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    keywords: dict[str, st.SearchStrategy[Json]] = {
        "properties": st.dictionaries(_NAMES, inner, max_size=2),
        "required": st.lists(_NAMES, unique=True),
        "additionalProperties": inner,
        "unevaluatedProperties": st.just(False),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "^[ab]$"]), inner, max_size=1),
        "minProperties": st.integers(0, 2),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
    }
    return st.fixed_dictionaries({"type": st.sampled_from(["object", ["object", "null"]])}, optional=keywords)


_SCHEMAS = st.recursive(_LEAVES, _grown, max_leaves=8)
_INSTANCES = st.recursive(
    st.sampled_from([None, True, False, "x", 1, {}]),
    lambda inner: st.dictionaries(_NAMES, inner, max_size=2),
    max_leaves=4,
)
_NOTHING = object()


def _found(instance: Json, path: list[str]) -> object:
    found: object = instance
    for name in path:
        found = found.get(name, _NOTHING) if isinstance(found, dict) else _NOTHING
    return found


@settings(max_examples=100, deadline=None)
@given(
    _SCHEMAS.filter(lambda schema: isinstance(schema, dict)),
    st.lists(st.dictionaries(_NAMES, _INSTANCES, max_size=2), min_size=20, max_size=20),
    st.lists(_NAMES, min_size=1, max_size=2),
)
def test_no_answer_that_fits_contradicts_a_promise(
    schema: dict[str, Json], instances: list[Json], path: list[str]
) -> None:
    schema = {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    validator = jsonschema_rs.validator_for(schema)
    found = [_found(each, path) for each in instances if validator.is_valid(each)]
    assume(found)
    with TemporaryDirectory() as folder:
        schemas, promised = _about(Path(folder), schema, ".".join(path))
        values = possible_values(schemas, promised)
    there = [each for each in found if each is not _NOTHING]
    assert promised.presence is not IMPOSSIBLE or not there
    assert promised.presence is not SURE or len(there) == len(found)
    if isinstance(values, tuple) and promised.presence in {SURE, POSSIBLE} and promised.whole:
        known = [json.dumps(each, sort_keys=True) for each in values]
        assert all(json.dumps(each, sort_keys=True) in known for each in there)


@pytest.mark.parametrize(
    ("schema", "path", "presence"),
    [
        ({"properties": {"a": TEXT}, "required": ["a"]}, "a", SURE),
        (_object("a", a={"properties": {"b": TEXT}, "required": ["b"]}), "a.b", POSSIBLE),
        (_object("a", a={"type": "object", "properties": {"b": TEXT}, "required": ["b"]}), "a.b", SURE),
        (_object("a", a={"type": ["object", "null"], "properties": {"b": TEXT}, "required": ["b"]}), "a.b", POSSIBLE),
        (_object("a", a={"properties": {"b": TEXT}, **CLOSED}), "a.c", IMPOSSIBLE),
    ],
)
def test_what_is_said_of_members_asks_for_no_object(
    tmp_path: Path, schema: Json, path: str, presence: Presence
) -> None:
    (tmp_path / "s.json").write_text(json.dumps(schema))
    schemas = Schemas(Sources(tmp_path, Budgets()))
    found = schemas.root("s.json")
    assert isinstance(found, Schema)
    assert promise(schemas, found, path.split("."), of_object=True).presence is presence
