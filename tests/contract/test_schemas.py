"""Parts of schemas are found by name, by pointer, and through references between files of the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Place, Pointer
from stagec.sources.contract.choices import Choices, choices, follow_pointer
from stagec.sources.contract.reach import references_in
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources


def _schemas(root: Path, **files: Json) -> Schemas:
    for name, content in files.items():
        (root / f"{name}.json").write_text(json.dumps(content))
    return Schemas(Sources(root, Budgets()))


def _values(found: Choices | Miss) -> object:
    return [each for each, _ in found.values] if isinstance(found, Choices) else found


@pytest.mark.parametrize("name", ["issue", "#/$defs/issue", "/$defs/issue"])
def test_a_schema_is_found_by_name_and_by_pointer(tmp_path: Path, name: str) -> None:
    schemas = _schemas(tmp_path, a={"$defs": {"issue": {"type": "object"}}})
    assert schemas.find_named("a.json", name) == Schema({"type": "object"}, Place("a.json", ("$defs", "issue")))


def test_definitions_come_before_members_of_the_same_name(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"x": {"type": "string"}, "definitions": {"x": {"type": "object"}}})
    found = schemas.find_named("a.json", "x")
    assert isinstance(found, Schema)
    assert found.at.pointer == ("definitions", "x")


def test_pointers_are_decoded(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"a/b": {"m~n": {"c d": [{"type": "null"}]}}})
    found = schemas.find_named("a.json", "#/a~1b/m~0n/c%20d/0")
    assert isinstance(found, Schema)
    assert found.at.pointer == ("a/b", "m~n", "c d", 0)


@pytest.mark.parametrize(
    ("reference", "miss"),
    [
        ("gone.json", Miss.NO_FILE),
        ("#/gone", Miss.NO_MEMBER),
        ("#gone", Miss.NO_MEMBER),
        ("../a.json", Miss.OUTSIDE),
        ("/etc/passwd", Miss.OUTSIDE),
        ("file:///etc/passwd", Miss.OUTSIDE),
        ("http://127.0.0.1/a.json", Miss.OUTSIDE),
        ("broken.json", Miss.UNKNOWABLE),
    ],
)
def test_a_reference_that_leads_to_nothing_says_why(tmp_path: Path, reference: str, miss: Miss) -> None:
    schemas = _schemas(tmp_path, a={})
    (tmp_path / "broken.json").write_text("{")
    assert schemas.resolve(reference, "a.json") is miss


def test_anchors_are_found(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"$defs": {"x": {"$anchor": "here"}}}, b={})
    found = schemas.resolve("a.json#here", "b.json")
    assert isinstance(found, Schema)
    assert found.at == Place("a.json", ("$defs", "x"))


def test_a_reference_that_contains_itself_ends(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"x": {"$ref": "#/y"}, "y": {"$ref": "#/x"}})
    start = schemas.find_named("a.json", "x")
    assert isinstance(start, Schema)
    assert len(list(schemas.layers(start))) == 2
    assert choices(schemas, start) is Miss.NO_MEMBER


def test_references_inside_data_are_no_references(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"enum": [{"$ref": "#/gone"}], "x": {"$ref": "#/gone"}, "default": {"$ref": "#/y"}})
    found = references_in(schemas, schemas.root("a.json"))
    assert [each.at.pointer for each in found] == [("x", "$ref")]


def test_references_inside_properties_that_are_called_like_data_are_found(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"properties": {"default": {"$ref": "#/gone"}, "enum": {"const": {"$ref": "x"}}}})
    found = references_in(schemas, schemas.root("a.json"))
    assert [each.at.pointer for each in found] == [("properties", "default", "$ref")]


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        ("https://example.com/a", ()),
        ("https://example.com/a#", ()),
        ("https://example.com/a#/$defs/x", ("$defs", "x")),
        ("https://example.com/a#here", ("$defs", "x")),
        ("urn:x#/items", ("$defs", "x", "items")),
        ("x", ("$defs", "y")),
    ],
)
def test_a_schema_is_found_by_the_address_it_gives_itself(tmp_path: Path, reference: str, pointer: Pointer) -> None:
    defined = {"x": {"$id": "urn:x#", "$anchor": "here", "items": {}}, "y": {"id": "x"}}
    schemas = _schemas(tmp_path, a={"$id": "https://example.com/a", "$defs": defined})
    found = schemas.resolve(reference, "a.json")
    assert isinstance(found, Schema)
    assert found.at == Place("a.json", pointer)


@pytest.mark.parametrize(
    ("reference", "at"),
    [
        ("https://example.com/s/b.json", Place("b.json")),
        ("https://example.com/s/b.json#/$defs/x", Place("b.json", ("$defs", "x"))),
        ("https://example.com/s/b.json#here", Place("b.json", ("$defs", "x"))),
        ("https://example.com/s/inner.json", Place("b.json", ("$defs", "x"))),
        ("urn:example:y", Place("b.json", ("$defs", "y"))),
    ],
)
def test_a_schema_of_another_file_is_found_by_its_address(tmp_path: Path, reference: str, at: Place) -> None:
    defined = {"x": {"$id": "inner.json", "$anchor": "here"}, "y": {"$id": "urn:example:y"}}
    schemas = _schemas(tmp_path, a={}, b={"$id": "https://example.com/s/b.json", "$defs": defined})
    found = schemas.resolve(reference, "a.json")
    assert isinstance(found, Schema)
    assert found.at == at


def test_an_address_is_relative_to_that_of_the_schema_it_stands_in(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"$id": "https://example.com/s/a"}, b={"$id": "https://example.com/s/other"})
    found = schemas.resolve("other", "a.json")
    assert isinstance(found, Schema)
    assert found.at == Place("b.json")


@pytest.mark.parametrize(
    "content",
    [
        {"properties": {"$id": {"const": "https://example.com/b"}}, "default": {"$id": "https://example.com/b"}},
        {"$id": "https://example.com/b", "$ref": "#", "$schema": "http://json-schema.org/draft-07/schema#"},
        {"$id": "https://example.com/b/"},
        [{"$id": 5}, {"$id": "http://["}, {"$defs": [], "$id": None}],
    ],
)
def test_what_only_looks_like_an_address_is_none(tmp_path: Path, content: Json) -> None:
    schemas = _schemas(tmp_path, a={}, b=content)
    assert schemas.resolve("https://example.com/b", "a.json") is Miss.OUTSIDE


def test_a_pointer_in_a_part_with_an_address_begins_there(tmp_path: Path) -> None:
    inner = {"$id": "in.json", "$ref": "#/$defs/x", "$defs": {"x": {"const": "in"}}}
    outer = {"$ref": "#/$defs/x"}
    schemas = _schemas(tmp_path, a={"$defs": {"inner": inner, "x": {"const": "out"}}, "outer": outer})
    documents = [each.document for each in references_in(schemas, schemas.root("a.json"))]
    found = [each.at.pointer for each in documents if isinstance(each, Schema)]
    assert sorted(found) == [(), ("$defs", "inner")]
    (one, other) = (schemas.find_named("a.json", name) for name in ("#/$defs/inner", "outer"))
    assert isinstance(one, Schema)
    assert isinstance(other, Schema)
    assert (_values(choices(schemas, one)), _values(choices(schemas, other))) == (["in"], ["out"])


def test_a_file_wins_over_a_schema_that_calls_itself_so(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"$defs": {"x": {"$id": "b.json"}}}, b={})
    found = schemas.resolve("b.json", "a.json")
    assert isinstance(found, Schema)
    assert found.at == Place("b.json")


def test_a_reference_in_a_list_of_documents_is_resolved_in_the_schema_it_stands_in(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a=[{"result": {"$defs": {"x": {"type": "string"}}}}])
    schemas.embed(Schema({}, Place("a.json", (0, "result"))))
    assert schemas.base(Place("a.json", (0, "result", "items"))) == (0, "result")
    found = schemas.resolve("#/$defs/x", "a.json", (0, "result"))
    assert isinstance(found, Schema)
    assert found.value == {"type": "string"}


def test_a_pointer_goes_through_references_and_all_of(tmp_path: Path) -> None:
    answer = {"properties": {"next": {"allOf": [{"$ref": "#/$defs/step"}]}}}
    schemas = _schemas(
        tmp_path,
        a={"issue": {"$ref": "b.json#/$defs/answer"}},
        b={"$defs": {"answer": answer, "step": {"properties": {"action": {"enum": ["next"]}}}}},
    )
    start = schemas.find_named("a.json", "issue")
    assert isinstance(start, Schema)
    found = follow_pointer(schemas, start, "#/properties/next/properties/action")
    assert found == Schema({"enum": ["next"]}, Place("b.json", ("$defs", "step", "properties", "action")))


def test_what_is_written_at_the_schema_itself_wins_over_what_it_refers_to(tmp_path: Path) -> None:
    base = {"properties": {"action": {"enum": ["base"]}}}
    own = {"allOf": [{"$ref": "#/base"}], "properties": {"action": {"enum": ["own"]}}}
    schemas = _schemas(tmp_path, a={"base": base, "own": own})
    start = schemas.find_named("a.json", "own")
    assert isinstance(start, Schema)
    found = follow_pointer(schemas, start, "#/properties/action")
    assert isinstance(found, Schema)
    assert _values(choices(schemas, found)) == ["own"]


def test_a_pointer_through_members_of_a_wrong_type_cannot_be_judged(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"swapped": {"type": {"action": {"enum": ["next"]}}, "properties": "object"}})
    start = schemas.find_named("a.json", "swapped")
    assert isinstance(start, Schema)
    assert follow_pointer(schemas, start, "#/properties/action") is Miss.UNKNOWABLE


def test_a_pointer_through_something_unreadable_cannot_be_judged(tmp_path: Path) -> None:
    schemas = _schemas(tmp_path, a={"x": {"$ref": "broken.json"}})
    (tmp_path / "broken.json").write_text("{")
    start = schemas.find_named("a.json", "x")
    assert isinstance(start, Schema)
    assert follow_pointer(schemas, start, "#/properties/action") is Miss.UNKNOWABLE


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["a", None, 1]}, ["a", None, 1]),
        ({"const": "a"}, ["a"]),
        ({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, ["a", "b", "c"]),
        ({"anyOf": [{"$ref": "#/$defs/one"}, {"const": "b"}]}, ["one", "b"]),
        ({"oneOf": [{"const": "a"}, {"type": "string"}]}, Miss.NO_MEMBER),
        ({"$ref": "#/$defs/one"}, ["one"]),
        ({"type": "string"}, Miss.NO_MEMBER),
        ({"$ref": "gone.json"}, Miss.UNKNOWABLE),
        (True, Miss.NO_MEMBER),
    ],
)
def test_values_are_named_by_enum_const_and_their_alternatives(tmp_path: Path, schema: Json, values: object) -> None:
    schemas = _schemas(tmp_path, a={"x": schema, "$defs": {"one": {"const": "one"}}})
    start = schemas.find_named("a.json", "x")
    assert isinstance(start, Schema)
    assert _values(choices(schemas, start)) == values


@pytest.mark.parametrize(("draft", "keyword"), [("draft-04", "id"), ("draft-06", "$id"), ("draft-07", "$id")])
def test_a_part_has_an_address_as_its_draft_says(tmp_path: Path, draft: str, keyword: str) -> None:
    inner = {keyword: "in.json", "items": {"$ref": "#/definitions/x"}, "definitions": {"x": {"enum": ["in"]}}}
    root = {"$schema": f"http://json-schema.org/{draft}/schema#", "definitions": {"i": inner, "x": {"enum": ["out"]}}}
    schemas = _schemas(tmp_path, a=root)
    found = [each.found for each in references_in(schemas, schemas.root("a.json"))]
    assert [each.value for each in found if isinstance(each, Schema)] == [{"enum": ["in"]}]
