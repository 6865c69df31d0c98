"""Answers that are made up satisfy their schema, take each of its alternatives, and are small, whatever it wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from handmade import repeating

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.document import Contents
from stagec.runtime.machine import Program
from stagec.runtime.machine.json_values import MISSING, follow
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.samples import RequiredValue, make_samples, make_value

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
