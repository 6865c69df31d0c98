"""Schemas with one constraint changed allow more, or less, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stagec.change.mutation.mutant import loosen, tighten
from stagec.core.json import Json
from stagec.runtime.machine.answer_schemas import prepare
from stagec.sources.contract.inclusion import list_samples

SCHEMAS: list[Any] = [
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "minLength": 1}, "b": {"type": "null"}},
    },
    {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 3}, "minItems": 1, "maxItems": 2},
    {"enum": ["other", 1, True, None, {"a": 1}, ["x"]]},
    {"type": "object", "additionalProperties": {"const": 1}, "properties": {"a": {"enum": ["x", "y"]}}},
    {"type": "object", "additionalProperties": False, "properties": {"a": {}}, "minProperties": 1},
    {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "number", "exclusiveMinimum": 0.5}]},
    {"type": "integer", "minimum": -(2**53), "maximum": 2**53 - 1},
    {"type": "number", "maximum": 1e300, "not": {"const": 3}},
    {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "array", "uniqueItems": True, "maxItems": 0}}},
]


def accepts(schema: Json, given: Json) -> bool:
    return prepare(json.dumps(schema)).complaint(given) is None


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_looser_schemas_accept_all_and_tighter_ones_nothing_new(schema: Json) -> None:
    samples = [*list_samples(schema, {}), "other", "a", 0, 1, 4, None, [], [1], {}, {"a": "x"}, {"a": "x", "b": None}]
    for edit in loosen(schema):
        new = [each for each in samples if accepts(schema, each) and not accepts(edit.schema, each)]
        assert new == [], edit.told
    for edit in tighten(schema):
        new = [each for each in samples if accepts(edit.schema, each) and not accepts(schema, each)]
        assert new == [], edit.told


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_each_edit_changes_one_place_and_says_which(schema: Json) -> None:
    every = [*loosen(schema), *tighten(schema)]
    assert every
    for edit in every:
        assert edit.schema != schema
        assert edit.told
    assert len({json.dumps(edit.schema) for edit in every}) == len(every)


def test_a_schema_nested_too_deep_is_changed_near_its_top() -> None:
    schema: Json = {"type": "string"}
    for _ in range(80):
        schema = {"type": "array", "items": schema}
    assert len([*loosen(schema)]) == 31
