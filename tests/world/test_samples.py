"""Answers that are made up satisfy their schema, take each of its alternatives, and are small, whatever it wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from handmade import repeating

from stagec.core.json import MISSING, Json, follow
from stagec.core.value import replace
from stagec.ir.plan.document import Contents
from stagec.runtime.machine import Program
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.samples import PlainDemands, RequiredValue, make_samples, make_value

NAMES = [f"n{number}" for number in range(20)]
ENDLESS: dict[str, dict[str, Any]] = {
    "arrays": {"type": "array", "minItems": 12, "items": {"$ref": "#"}},
    "one array": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    "members": {"type": "object", "required": NAMES, "properties": {name: {"$ref": "#"} for name in NAMES}},
    "both": {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "array", "minItems": 9, "items": {"$ref": "#"}}},
    },
}
CONSTANT: Json = {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}
OBJECT = {"type": "object"}
FORMS: dict[str, tuple[dict[str, Any], Any]] = {
    "the first branch of a condition": (
        {
            **OBJECT,
            "if": CONSTANT,
            "then": {"required": ["x"], "properties": {"x": {"type": "integer"}}},
            "else": False,
        },
        {"kind": "b", "x": 0},
    ),
    "the second branch of a condition": (
        {
            **OBJECT,
            "required": ["kind"],
            "properties": {"kind": {"enum": ["b", "c"]}},
            "if": CONSTANT,
            "then": {"required": ["x"], "properties": {"x": False}},
            "else": {"required": ["y"], "properties": {"y": {"const": 1}}},
        },
        {"kind": "c", "y": 1},
    ),
    "two alternatives that depend on each other": (
        {
            **OBJECT,
            "required": ["a", "b"],
            "allOf": [
                {"oneOf": [{"properties": {"a": {"const": each}, "b": {"const": each + 1}}} for each in range(5)]}
            ],
            "anyOf": [{"properties": {"b": {"const": each}}} for each in range(9, 4, -1)],
        },
        {"a": 4, "b": 5},
    ),
    "parts of a conjunction": (
        {
            **OBJECT,
            "allOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}],
            "$defs": {
                "one": {"required": ["a"], "properties": {"a": {"type": "integer", "minimum": 3}}},
                "two": {"required": ["b"], "properties": {"a": {"minimum": 5}, "b": {"const": 1}}},
            },
        },
        {"a": 5, "b": 1},
    ),
    "choices of several parts": (
        {
            **OBJECT,
            "allOf": [
                {"anyOf": [{"required": ["a"], "properties": {"a": {"const": 1}}}]},
                {"anyOf": [{"required": ["b"], "properties": {"b": {"const": 2}}}]},
            ],
        },
        {"a": 1, "b": 2},
    ),
    "an element that a list contains": (
        {
            **OBJECT,
            "required": ["a"],
            "properties": {
                "a": {"type": "array", "minItems": 3, "items": {"type": "integer"}, "contains": {"const": 7}}
            },
        },
        {"a": [7, 0, 0]},
    ),
    "several elements that a list contains": (
        {
            **OBJECT,
            "required": ["a"],
            "properties": {"a": {"type": "array", "contains": {"minimum": 7, "type": "integer"}, "minContains": 2}},
        },
        {"a": [7, 7]},
    ),
    "members by a pattern": (
        {**OBJECT, "patternProperties": {"^k[0-9]$": {"const": 1}}, "additionalProperties": False, "minProperties": 2},
        {"k0": 1, "k1": 1},
    ),
    "members by their number": ({**OBJECT, "minProperties": 1, "additionalProperties": {"const": 1}}, {"member0": 1}),
    "members that others demand": (
        {
            **OBJECT,
            "required": ["a"],
            "properties": {name: {"const": 1} for name in "abc"},
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"a": {"required": ["c"]}},
        },
        {"a": 1, "b": 1, "c": 1},
    ),
}


def program_with(schema: Json) -> tuple[Program, str]:
    contents = Contents()
    name = contents.add(json.dumps(schema))
    return program_of(replace(repeating(), contents={**repeating().contents, **contents.texts})), name


@pytest.mark.parametrize("schema", ENDLESS.values(), ids=ENDLESS)
def test_a_schema_that_wants_no_end_gets_one(schema: dict[str, Any]) -> None:
    made = make_value(*program_with(schema))
    assert made is MISSING or len(json.dumps(made)) < 1_000_000


@pytest.mark.parametrize(("schema", "wanted"), FORMS.values(), ids=FORMS)
def test_every_form_of_a_schema_is_satisfied(schema: dict[str, Any], wanted: Json) -> None:
    assert wanted in list(make_samples(*program_with(schema), ()))


def test_a_wished_value_finds_the_branch_that_allows_it() -> None:
    branches = [
        {"properties": {"kind": {"const": f"k{each}"}, "more": {"const": each}}, "required": ["kind", "more"]}
        for each in range(12)
    ]
    program, name = program_with({"type": "object", "oneOf": branches})
    for each in range(12):
        found = next(make_samples(program, name, [RequiredValue(("kind",), f"k{each}")]))
        assert follow(found, ("more",)) == each


def test_an_answer_has_all_members_that_a_schema_asks_for_one_by_one() -> None:
    names = [f"n{at}" for at in range(3_000)]
    members = {each: {"type": "string"} for each in names}
    program, name = program_with({**OBJECT, "required": names, "properties": members})
    assert [*next(make_samples(program, name, ()))] == names


def test_a_default_is_not_changed_by_what_is_wished_in_it() -> None:
    inner = {**OBJECT, "default": {"a": 1}, "properties": {"a": {"enum": [1, 2]}}}
    program, name = program_with({**OBJECT, "required": ["it"], "properties": {"it": inner}})
    assert next(make_samples(program, name, [RequiredValue(("it", "a"), 2)])) == {"it": {"a": 2}}
    assert next(make_samples(program, name, ())) == {"it": {"a": 1}}


def test_many_wishes_inside_one_member_choose_its_branch() -> None:
    names = [f"n{at}" for at in range(30)]
    members = {"more": {"const": 1}, **{each: {"const": 7} for each in names}}
    branch = {"required": [*members], "properties": members}
    other = {"properties": {names[-1]: {"const": 8}}}
    program, name = program_with({**OBJECT, "properties": {"it": {**OBJECT, "oneOf": [other, branch]}}})
    wanted = [RequiredValue(("it", each), 7) for each in names]
    assert next(make_samples(program, name, wanted)) == {"it": {"more": 1, **dict.fromkeys(names, 7)}}


def test_what_is_wished_deeper_than_answers_may_be_is_not_made_up() -> None:
    program, name = program_with(OBJECT)
    path = tuple("a" * 5_000)
    assert [*make_samples(program, name, [RequiredValue(path, 1)])] == []
    assert PlainDemands(program, name).allow(RequiredValue(path, 1))


ALLOWED: dict[str, tuple[Json, Json, bool]] = {
    "a type": ({"type": "string"}, 1, False),
    "an integer": ({"type": "integer"}, 1, True),
    "an integer is a number": ({"type": "number"}, 1, True),
    "a whole number that is no integer in Python": ({"type": "integer"}, 1.0, True),
    "a boolean is no number": ({"type": "number"}, True, False),
    "one of several types": ({"type": ["string", "null"]}, None, True),
    "a listed value": ({"enum": ["a", "b"]}, "c", False),
    "a reference": ({"$ref": "#/$defs/flag"}, "a", False),
    "a reference by a name": ({"$ref": "#flag"}, "a", True),
    "a conjunction": ({"allOf": [{"$ref": "#/$defs/flag"}]}, "a", False),
    "alternatives are left open": ({"anyOf": [{"type": "boolean"}]}, "a", True),
    "nothing": (False, "a", False),
    "a circle": ({"$ref": "#/$defs/circle"}, "a", True),
}


@pytest.mark.parametrize(("inner", "given", "is_allowed"), ALLOWED.values(), ids=ALLOWED)
def test_a_value_is_ruled_out_by_what_every_alternative_asks_for(inner: Json, given: Json, *, is_allowed: bool) -> None:
    parts: Json = {"flag": {"type": "boolean"}, "circle": {"$ref": "#/$defs/circle"}}
    around: Json = {**OBJECT, "required": ["it"], "properties": {"it": inner}}
    program, name = program_with({**OBJECT, "properties": {"around": around}, "$defs": parts})
    demands = PlainDemands(program, name)
    assert demands.allow(RequiredValue(("around", "it"), given)) is is_allowed
    assert not demands.allow(RequiredValue(("around", "it"), absent=True))
    assert demands.allow(RequiredValue(("around",), absent=True))


def test_references_below_an_identity_rule_nothing_out() -> None:
    inner = {"$id": "urn:x", "$defs": {"flag": {}}, "properties": {"it": {"$ref": "#/$defs/flag"}}}
    program, name = program_with({"properties": {"around": inner}, "$defs": {"flag": {"type": "boolean"}}})
    assert PlainDemands(program, name).allow(RequiredValue(("around", "it"), "text"))
