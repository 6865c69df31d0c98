"""A part of a document against a schema that a user wrote for it."""

from __future__ import annotations

import json

import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json, Object
from stagec.core.place import Pointer
from stagec.sources.formats.json import FORMAT
from stagec.sources.shape import judge_by
from stagec.sources.tree import Tree

FILE = "a.json"


def judged(given: Json, schema: Object | str, pointer: Pointer = ()) -> list[tuple[str, Pointer, str]]:
    """Return topic, place and reason of every fault."""
    data = json.dumps(given).encode()
    parsed = FORMAT.parse(FILE, data, Budgets())
    tree = judge_by(Tree(FILE, "file", FORMAT, data, parsed.value, parsed.faults), pointer, schema, "topic")
    return [(fault.topic, fault.at.pointer, fault.reason) for fault in tree.faults if fault.topic == "topic"]


def test_every_fault_has_the_topic_that_was_asked_for() -> None:
    schema: Object = {
        "properties": {"a": {"$ref": "#/$defs/text"}, "n": {"minimum": 3}},
        "additionalProperties": False,
        "$defs": {"text": {"type": "string"}},
    }
    assert judged({"a": 1, "n": 2, "z": 0}, schema) == [
        ("topic", ("z",), "unknown"),
        ("topic", ("a",), "type"),
        ("topic", ("n",), "minimum"),
    ]


def test_faults_lie_at_the_place_in_the_file() -> None:
    schema: Object = {"required": ["entry"], "properties": {"turns": {"type": "integer"}}}
    assert judged({"config": {"turns": "a"}}, schema, ("config",)) == [
        ("topic", ("config", "entry"), "required"),
        ("topic", ("config", "turns"), "type"),
    ]


def test_a_published_schema_is_called_by_its_name() -> None:
    assert judged({"entry": 5}, "state_machine_config") == [("topic", ("entry",), "type")]


@pytest.mark.parametrize(
    "schema",
    [{}, {"$ref": "other.json"}, {"$ref": "https://example.org/a.json"}, {"type": "objct"}, {"pattern": "("}],
    ids=["empty", "a file", "an address", "no schema", "no pattern"],
)
def test_a_schema_that_cannot_be_used_says_nothing(schema: Object) -> None:
    assert judged({"a": 1}, schema) == []


def test_the_dialect_of_the_schema_counts() -> None:
    schema: Object = {"properties": {"n": {"minimum": 3, "exclusiveMinimum": True}}}
    old: Object = {**schema, "$schema": "http://json-schema.org/draft-04/schema#"}
    assert judged({"n": 3}, old) == [("topic", ("n",), "exclusiveMinimum")]


def test_names_inside_a_schema_do_not_lead_astray() -> None:
    schema: Object = {
        "$id": "https://example.org/root",
        "properties": {"a": {"$ref": "inner"}},
        "$defs": {"x": {"$id": "inner", "type": "array", "items": {"$ref": "#"}, "minItems": 2}},
    }
    assert judged({"a": [[]]}, schema) != []
