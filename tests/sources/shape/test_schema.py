"""Users' JSON Schemas: dialect, validity, references and patterns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from patience import ends

from stagec.core.budgets import Budgets
from stagec.core.place import Part, Place
from stagec.sources.formats.plain import FORMAT
from stagec.sources.shape import judge_schema
from stagec.sources.shape.dialects import DIALECTS, LATEST, Dialect
from stagec.sources.tree import Fault, Tree

FILE = "agents/demo/schemas/a.schema.json"


def judged(value: Any, file: str = FILE) -> Tree:
    return judge_schema(Tree(file, "schema", FORMAT, json.dumps(value).encode(), value), Budgets())


def faults(value: Any, file: str = FILE) -> list[tuple[str, tuple[str | int, ...], str]]:
    found = [(fault.topic, fault.at.pointer, fault.reason) for fault in judged(value, file).faults]
    return sorted(found, key=str)


def test_a_sound_schema_comes_back_as_it_was() -> None:
    tree = Tree(FILE, "schema", FORMAT, value={"a": {"type": "object"}})
    assert judge_schema(tree, Budgets()) is tree


@pytest.mark.parametrize("dialect", [*DIALECTS, *(f"{each}#" for each in DIALECTS)])
def test_every_known_dialect_judges_with_its_own_schema(dialect: str) -> None:
    assert faults({"$schema": dialect, "a": {"minLength": -1}}) == [("invalid-schema", ("a", "minLength"), "minimum")]


@pytest.mark.parametrize("dialect", ["http://127.0.0.1/x", "file:///etc/passwd", "../dialect.json", "", "draft-07"])
def test_an_unknown_dialect_is_one_fault_and_nothing_is_judged_by_it(dialect: str) -> None:
    assert faults({"$schema": dialect, "a": {"minLength": -1}}) == [("unknown-dialect", ("$schema",), "")]


def test_a_dialect_that_is_no_text_is_invalid() -> None:
    assert faults({"$schema": 5}) == [("invalid-schema", ("$schema",), "type")]


def test_the_members_of_a_file_are_schemas_and_so_are_its_own_keywords() -> None:
    value = {"type": "str", "$defs": {"x": {"required": "a"}}, "initial.issue": {"properties": {"b": 3}}}
    assert faults(value) == [
        ("invalid-schema", ("$defs", "x", "required"), "type"),
        ("invalid-schema", ("initial.issue", "properties", "b"), "type"),
        ("invalid-schema", ("type",), "enum"),
    ]


def test_a_file_that_is_no_object_is_no_schema() -> None:
    tree = judged([1])
    assert tree.faults == (Fault("invalid-schema", Place(FILE), "type", {"allowed": ("object",), "kind": "array"}),)
    assert not tree.readable


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$recursiveRef"])
@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("http://127.0.0.1:1/x.json", "scheme"),
        ("HTTPS://example.com/x", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("file%3A///etc/passwd", "scheme"),
        ("C:\\x.json", "scheme"),
        ("/etc/passwd", "absolute"),
        ("//example.com/x", "absolute"),
        ("\\\\server\\x", "absolute"),
        ("../../../../outside.json#/a", "outside"),
        ("%2e%2e/%2e%2e/%2e%2e/%2e%2e/outside.json", "outside"),
        ("..\\..\\..\\..\\outside.json", "outside"),
    ],
)
def test_a_reference_out_of_the_project_is_found(keyword: str, reference: str, reason: str) -> None:
    draft = (Dialect.OF_2019 if keyword == "$recursiveRef" else LATEST).address
    found = faults({"$schema": draft, "a": {"properties": {"x": {keyword: reference}}}})
    assert found == [("foreign-reference", ("a", "properties", "x", keyword), reason)]


@pytest.mark.parametrize(
    "reference", ["#/$defs/x", "common.json#/x", "../../shared.json", "missing.json", "https://example.com/a.json#/x"]
)
def test_a_reference_inside_the_project_is_left_to_others(reference: str) -> None:
    assert faults({"$id": "https://example.com/a.json", "a": {"$ref": reference}}) == []


def test_what_looks_like_a_reference_inside_data_is_none() -> None:
    value = {"a": {"enum": [{"$ref": "http://x/"}], "const": {"$ref": "http://x/"}, "default": {"pattern": "("}}}
    assert faults(value) == []


def test_a_property_called_ref_is_none() -> None:
    assert faults({"a": {"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}}}}) == []


def test_patterns_are_read_wherever_they_stand() -> None:
    value = {"a": {"items": [{"pattern": "("}], "patternProperties": {"(a*)*": {"pattern": "(b+)+"}}}}
    found = judged({"$schema": "http://json-schema.org/draft-07/schema#", **value}).faults
    assert {(fault.topic, fault.at.pointer, fault.at.part) for fault in found} == {
        ("invalid-schema", ("a", "items", 0, "pattern"), Part.VALUE),
        ("costly-pattern", ("a", "patternProperties", "(a*)*"), Part.KEY),
        ("costly-pattern", ("a", "patternProperties", "(a*)*", "pattern"), Part.VALUE),
    }


HOSTILE = {
    "patterns": {"properties": {f"p{n}": {"pattern": f"(ab?c{n})+"} for n in range(22_000)}},
    "types": {"properties": {f"p{n}": {"type": "str"} for n in range(30_000)}},
    "numbers": {"properties": {f"p{n}": 3 for n in range(60_000)}},
    "references": {"properties": {f"p{n}": {"$ref": f"http://x/{n}"} for n in range(22_000)}},
    "containers": {f"p{n}": {"type": "str"} for n in range(30_000)},
    "alternatives": {"anyOf": [{"type": "string"}] * 40_000},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_of_a_megabyte_is_judged_in_linear_time(name: str) -> None:
    tree = Tree(FILE, "schema", FORMAT, json.dumps(HOSTILE[name]).encode(), HOSTILE[name])
    with ends():
        judge_schema(tree, Budgets())
