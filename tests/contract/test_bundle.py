"""A schema is written as one text that accepts what it and all that it refers to accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stagec.core.budgets import Budgets
from stagec.core.canonical import compact
from stagec.core.json import Json
from stagec.core.place import Place
from stagec.runtime.machine.answer_schemas import AnswerSchemas
from stagec.runtime.machine.json_values import normalise
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
DRAFTS = (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020)


def schemas_of(root: Path, **files: Any) -> Schemas:
    for name, content in files.items():
        (root / f"{name}.json").write_text(json.dumps(content))
    return Schemas(Sources(root, Budgets()))


def bundled(root: Path, identifier: str = "", **files: Any) -> Any:
    """Return the bundle of the file `a`, or of a part of it."""
    schemas = schemas_of(root, **files)
    found = schemas.find_named("a.json", identifier) if identifier else schemas.root("a.json")
    assert isinstance(found, Schema)
    return json.loads(bundle(schemas, found))


def test_a_schema_without_references_is_written_as_it_is(tmp_path: Path) -> None:
    text = (
        '{"type":"object","properties":{"b":{"enum":["ü",1.0,1e-7,-0.0,null,true]},"a":{"minimum":9007199254740992}}}'
    )
    (tmp_path / "a.json").write_text(text)
    schemas = Schemas(Sources(tmp_path, Budgets()))
    found = schemas.root("a.json")
    assert isinstance(found, Schema)
    assert bundle(schemas, found) == text.replace("1e-7", "1e-07")


@pytest.mark.parametrize("given", [True, False, {}])
def test_the_smallest_schemas_are_written(tmp_path: Path, given: Json) -> None:
    assert bundled(tmp_path, "x", a={"x": given}) == given


def test_what_lies_inside_the_schema_stays_where_it_is(tmp_path: Path) -> None:
    given = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/definitions/y"}, "c": {"$ref": "#"}},
        "$defs": {"x": {"type": "string"}},
        "definitions": {"y": {"$ref": "#/properties/a"}},
    }
    assert bundled(tmp_path, a=given) == given


def test_what_lies_outside_the_schema_stands_once_under_definitions(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        "answer",
        a={
            "answer": {"items": {"$ref": "#/$defs/item"}, "contains": {"$ref": "#/$defs/item"}},
            "$defs": {"item": {"$ref": "b.json#/$defs/issue"}, "unused": {}},
        },
        b={"$defs": {"issue": {"type": "object"}}},
    )
    assert found == {
        "items": {"$ref": "#/$defs/item"},
        "contains": {"$ref": "#/$defs/item"},
        "$defs": {"item": {"$ref": "#/$defs/issue"}, "issue": {"type": "object"}},
    }


def test_a_pointer_into_the_schema_is_shortened_when_the_schema_is_a_part_of_its_file(tmp_path: Path) -> None:
    answer = {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/$defs/answer/properties/a"}}}
    assert bundled(tmp_path, "answer", a={"$defs": {"answer": answer}}) == {
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}
    }


def test_a_schema_that_contains_itself_is_written_once(tmp_path: Path) -> None:
    tree = {"properties": {"children": {"items": {"$ref": "#/$defs/tree"}}}}
    assert bundled(tmp_path, "tree", a={"$defs": {"tree": tree}}) == {
        "properties": {"children": {"items": {"$ref": "#"}}}
    }


def test_files_that_refer_to_each_other_end(tmp_path: Path) -> None:
    found = bundled(tmp_path, a={"properties": {"b": {"$ref": "b.json"}}}, b={"properties": {"a": {"$ref": "a.json#"}}})
    assert found == {
        "properties": {"b": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"properties": {"a": {"$ref": "#"}}}},
    }


def test_the_schema_itself_is_not_repeated_inside_its_file(tmp_path: Path) -> None:
    given = {"x": {"items": {"$ref": "#"}}, "type": "array"}
    assert bundled(tmp_path, "x", a=given) == {
        "items": {"$ref": "#/$defs/a"},
        "$defs": {"a": {"x": {"$ref": "#"}, "type": "array"}},
    }


def test_a_part_of_another_part_is_not_written_twice(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"anyOf": [{"$ref": "b.json#/$defs/x/items"}, {"$ref": "b.json#/$defs/x"}]},
        b={"$defs": {"x": {"items": {"type": "string"}}}},
    )
    assert found == {
        "anyOf": [{"$ref": "#/$defs/x/items"}, {"$ref": "#/$defs/x"}],
        "$defs": {"x": {"items": {"type": "string"}}},
    }


def test_references_are_relative_to_the_file_they_stand_in(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    found = bundled(
        tmp_path,
        a={"$ref": "sub/b.json#/x"},
        b={"x": {"const": "beside"}},
        **{"sub/b": {"x": {"allOf": [{"$ref": "../b.json#/x"}, {"$ref": "b.json#/y"}]}, "y": {"const": "below"}}},
    )
    assert found == {
        "$ref": "#/$defs/x",
        "$defs": {
            "x": {"allOf": [{"$ref": "#/$defs/b.x"}, {"$ref": "#/$defs/y"}]},
            "b.x": {"const": "beside"},
            "y": {"const": "below"},
        },
    }


def test_names_differ_from_each_other_and_from_those_in_use(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={
            "allOf": [{"$ref": f"b.json#/{each}/x"} for each in "pqr"] + [{"$ref": "b.json"}, {"$ref": "b.json#/n/0"}],
            "$defs": {"x": {}, "b": {}},
        },
        b={"p": {"x": {"const": 1}}, "q": {"x": {"const": 2}}, "r": {"x": {"const": 3}}, "n": [{"const": 4}]},
    )
    assert [each["$ref"] for each in found["allOf"]] == [
        "#/$defs/b_2/p/x",
        "#/$defs/b_2/q/x",
        "#/$defs/b_2/r/x",
        "#/$defs/b_2",
        "#/$defs/b_2/n/0",
    ]


def test_names_are_those_of_members_then_of_files_then_numbered(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"allOf": [{"$ref": f"b.json#/{each}/x"} for each in "pqrs"] + [{"$ref": "b.json#/n/0"}]},
        b={"p": {"x": {}}, "q": {"x": {}}, "r": {"x": {}}, "s": {"x": {}}, "n": [{"const": 4}]},
    )
    assert [each["$ref"] for each in found["allOf"]] == [
        "#/$defs/x",
        "#/$defs/b.x",
        "#/$defs/x_2",
        "#/$defs/x_3",
        "#/$defs/n_0",
    ]


def test_pointers_are_escaped(tmp_path: Path) -> None:
    names = ["a/b", "m~n", "c d", "100%", 'é"', "", "\\"]
    given = {
        "$defs": {name: {"const": name} for name in names},
        "anyOf": [
            {"$ref": "#/$defs/a~1b"},
            {"$ref": "#/$defs/m~0n"},
            {"$ref": "#/$defs/c%20d"},
            {"$ref": "#/$defs/100%25"},
            {"$ref": '#/$defs/é"'},
            {"$ref": "#/$defs/"},
            {"$ref": "#/$defs/\\"},
        ],
    }
    found = bundled(tmp_path, a=given)
    assert [each["$ref"] for each in found["anyOf"]] == [
        "#/$defs/a~1b",
        "#/$defs/m~0n",
        "#/$defs/c%20d",
        "#/$defs/100%25",
        "#/$defs/%C3%A9%22",
        "#/$defs/",
        "#/$defs/%5C",
    ]
    jsonschema.validate('é"', found)


def test_anchors_become_pointers(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"allOf": [{"$ref": "#here"}, {"$ref": "b.json#there"}], "$defs": {"x": {"$anchor": "here"}}},
        b={"definitions": {"y": {"$id": "#there", "type": "object"}}},
    )
    assert found == {
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}],
        "$defs": {"x": {}, "y": {"type": "object"}},
    }


def test_a_schema_may_be_referred_to_by_the_address_it_gives_itself(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={
            "$id": "https://example.com/a.json",
            "allOf": [{"$ref": "https://example.com/a.json#/$defs/x"}, {"$ref": "urn:y#/items"}],
            "$defs": {"x": {"type": "string"}, "y": {"$id": "urn:y", "items": {}}},
        },
    )
    assert found == {
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y/items"}],
        "$defs": {"x": {"type": "string"}, "y": {"items": {}}},
    }


def test_names_of_schemas_are_left_out_but_not_members_of_values_that_are_called_so(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={
            "$id": "https://example.com/a",
            "$schema": DRAFT_2020,
            "$anchor": "here",
            "properties": {"$id": {"$anchor": "x"}, "$anchor": True, "$schema": {"$dynamicAnchor": "y"}, "id": {}},
            "const": {"$id": "x", "$anchor": "y", "$ref": "#/gone"},
            "enum": [{"$id": "x"}],
            "default": {"$schema": "x", "$ref": "#/gone"},
            "examples": [{"$ref": "b.json"}],
            "items": {"$schema": DRAFT_2020, "id": "stays"},
        },
    )
    assert found == {
        "$schema": DRAFT_2020,
        "properties": {"$id": {}, "$anchor": True, "$schema": {}, "id": {}},
        "const": {"$id": "x", "$anchor": "y", "$ref": "#/gone"},
        "enum": [{"$id": "x"}],
        "default": {"$schema": "x", "$ref": "#/gone"},
        "examples": [{"$ref": "b.json"}],
        "items": {"id": "stays"},
    }


def test_in_draft_4_schemas_are_called_by_another_keyword(tmp_path: Path) -> None:
    given = {"$schema": DRAFT_4, "id": "https://example.com/a", "properties": {"id": {"id": "#x"}}}
    assert bundled(tmp_path, a=given) == {"$schema": DRAFT_4, "properties": {"id": {}}}


def test_properties_called_like_keywords_are_schemas(tmp_path: Path) -> None:
    named = ("default", "const", "enum", "examples", "example", "$ref", "properties", "items", "$defs")
    found = bundled(tmp_path, "x", a={"x": {"properties": {name: {"$ref": "#/y"} for name in named}}, "y": {}})
    assert found == {"properties": {name: {"$ref": "#/$defs/y"} for name in named}, "$defs": {"y": {}}}


def test_a_schema_that_lies_in_data_is_written_apart_and_the_data_stay(tmp_path: Path) -> None:
    example = {"$anchor": "x", "$ref": "#/$defs/y"}
    given = {"$ref": "#/examples/0", "examples": [example], "$defs": {"y": {"type": "string"}}}
    assert bundled(tmp_path, a=given) == {
        "$ref": "#/$defs/examples_0",
        "examples": [example],
        "$defs": {"y": {"type": "string"}, "examples_0": {"$ref": "#/$defs/y"}},
    }


def test_a_schema_that_is_no_object_is_written_apart(tmp_path: Path) -> None:
    given = {"items": {"$ref": "#/properties/x"}, "properties": {"x": False}}
    assert bundled(tmp_path, a=given) == {**given, "items": {"$ref": "#/$defs/x"}, "$defs": {"x": False}}


def test_a_schema_below_an_unknown_keyword_stays_there(tmp_path: Path) -> None:
    given = {"$ref": "#/shared/y", "shared": {"y": {"$ref": "#/shared/z"}, "z": {"type": "string"}}}
    assert bundled(tmp_path, a=given) == given


@pytest.mark.parametrize("draft", [DRAFT_4, DRAFT_6, DRAFT_7])
def test_what_stands_beside_a_reference_is_left_out_where_the_draft_ignores_it(tmp_path: Path, draft: str) -> None:
    found = bundled(
        tmp_path,
        a={
            "$schema": draft,
            "properties": {
                "n": {"minimum": 5, "$ref": "#/definitions/x", "title": "T", "allOf": [{"maximum": 9}]},
                "alone": {"$ref": "#/definitions/x"},
            },
            "definitions": {"x": {"type": "integer"}},
        },
    )
    assert list(found["properties"]["n"].items()) == [("allOf", [{"$ref": "#/definitions/x"}]), ("title", "T")]
    assert found["properties"]["alone"] == {"$ref": "#/definitions/x"}
    assert [jsonschema.validators.validator_for(found)(found).is_valid({"n": n}) for n in (4, 5, 10, "x")] == [
        True,
        True,
        True,
        False,
    ]


def test_a_pointer_into_an_all_of_that_has_grown_still_finds_its_part(tmp_path: Path) -> None:
    given = {
        "$ref": "#/definitions/x",
        "$dynamicRef": "#/definitions/x",
        "allOf": [{"maximum": 9}],
        "properties": {"y": {"$ref": "#/allOf/0"}},
        "definitions": {"x": {}},
    }
    assert bundled(tmp_path, a=given)["properties"] == {"y": {"$ref": "#/allOf/2"}}


@pytest.mark.parametrize("draft", [DRAFT_2019, DRAFT_2020])
def test_what_stands_beside_a_reference_stays_there_where_the_draft_heeds_it(tmp_path: Path, draft: str) -> None:
    given = {"$schema": draft, "minimum": 5, "$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}
    assert bundled(tmp_path, a=given) == given


@pytest.mark.parametrize("text", ["b.json", "#/gone", "#gone", "../a.json", "http://[", "https://example.com/", "/a"])
def test_a_reference_that_leads_to_nothing_is_left(tmp_path: Path, text: str) -> None:
    given = {"type": "string", "items": {"title": "T", "$ref": text}}
    assert bundled(tmp_path, a=given) == given


@pytest.mark.parametrize(
    "given",
    [
        {"$ref": 5},
        {"$ref": "#/title", "title": "T"},
        {"$ref": "#/allOf", "allOf": [{}]},
        {"$schema": DRAFT_7, "$ref": "#", "allOf": {"type": "string"}},
        {"$schema": 5, "$defs": 5, "properties": ["x"], "items": {"$ref": "#/$defs"}},
        {"$schema": "https://example.com/dialect", "items": {"$ref": "#"}},
        {"$ref": "#", "$dynamicRef": "#/gone"},
        {"$ref": "#/gone", "$dynamicRef": "#"},
        {"exclusiveMinimum": True, "minimum": None},
    ],
)
def test_a_schema_with_mistakes_crashes_nothing(tmp_path: Path, given: Json) -> None:
    assert isinstance(bundled(tmp_path, a=given), dict)
    assert isinstance(bundled(tmp_path, "x", a={"$schema": DRAFT_4, "x": {"allOf": [given, {"$ref": "#"}]}}), dict)


def test_a_part_says_in_which_draft_its_file_is(tmp_path: Path) -> None:
    files: dict[str, Json] = {"a": {"$schema": DRAFT_7.removesuffix("#"), "x": {"items": [{}]}}}
    assert list(bundled(tmp_path, "x", **files).items()) == [("$schema", DRAFT_7), ("items", [{}])]


def test_a_part_of_a_file_in_the_latest_draft_need_not_say_so(tmp_path: Path) -> None:
    assert bundled(tmp_path, "x", a={"$schema": DRAFT_2020, "x": {"prefixItems": [{}]}}) == {"prefixItems": [{}]}


@pytest.mark.parametrize("draft", DRAFTS[1:])
def test_a_part_in_another_draft_that_means_the_same_stays_as_it_is(tmp_path: Path, draft: str) -> None:
    shared = {"properties": {"x": {"enum": [1], "items": {"type": "string"}}}, "required": ["x"]}
    found = bundled(tmp_path, a={"$schema": draft, "items": {"$ref": "b.json"}}, b=shared)
    assert found == {"$schema": draft, "items": {"$ref": "#/$defs/b"}, "$defs": {"b": shared}}


def test_parts_in_earlier_drafts_are_restated_in_the_latest(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"$schema": DRAFT_2019, "allOf": [{"$ref": "b.json"}, {"$ref": "b.json#/items/0"}, {"$ref": "c.json"}]},
        b={
            "$schema": DRAFT_7,
            "items": [{"type": "string"}],
            "additionalItems": False,
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
            "unevaluatedProperties": False,
            "if": {"type": "array"},
        },
        c={
            "$schema": DRAFT_4,
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": 9,
            "exclusiveMaximum": False,
            "const": 5,
            "items": {"type": "string"},
            "additionalItems": False,
        },
    )
    assert found["$schema"] == DRAFT_2019
    assert found["allOf"][1] == {"$ref": "#/$defs/b/items/0"}
    assert found["$defs"] == {
        "b": {
            "items": [{"type": "string"}],
            "additionalItems": False,
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"c": {"required": ["d"]}},
            "if": {"type": "array"},
        },
        "c": {"exclusiveMinimum": 1, "maximum": 9, "items": {"type": "string"}},
    }


def test_the_text_is_in_the_latest_draft_of_any_part_where_they_do_not_agree(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"$schema": DRAFT_7, "items": [{"$ref": "b.json"}], "additionalItems": {"$ref": "#/items/0"}},
        b={"unevaluatedProperties": False},
    )
    assert found == {
        "$schema": DRAFT_2020,
        "prefixItems": [{"$ref": "#/$defs/b"}],
        "items": {"$ref": "#/prefixItems/0"},
        "$defs": {"b": {"unevaluatedProperties": False}},
    }


def test_a_schema_inside_another_may_be_in_a_draft_of_its_own(tmp_path: Path) -> None:
    given = {"properties": {"x": {"$schema": DRAFT_7, "items": [True], "additionalItems": False}}}
    assert bundled(tmp_path, a=given) == {"properties": {"x": {"prefixItems": [True], "items": False}}}


def test_a_part_that_its_own_draft_ignores_is_written_where_it_is_referred_to(tmp_path: Path) -> None:
    found = bundled(
        tmp_path,
        a={"prefixItems": [{"$ref": "b.json"}, {"$ref": "b.json#/prefixItems/0"}]},
        b={"$schema": DRAFT_7, "type": "array", "prefixItems": [{"type": "string"}]},
    )
    assert found == {
        "prefixItems": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/prefixItems_0"}],
        "$defs": {"b": {"type": "array"}, "prefixItems_0": {"type": "string"}},
    }


TREE = {"$dynamicAnchor": "node", "properties": {"children": {"items": {"$dynamicRef": "#node"}}}}
OLD_TREE = {
    "$schema": DRAFT_2019,
    "$recursiveAnchor": True,
    "properties": {"children": {"items": {"$recursiveRef": "#"}}},
}


@pytest.mark.parametrize(("tree", "draft"), [(TREE, {}), (OLD_TREE, {"$schema": DRAFT_2019})])
def test_a_dynamic_reference_finds_the_own_schema(tmp_path: Path, tree: Json, draft: dict[str, Json]) -> None:
    found = bundled(tmp_path, a={**draft, "items": {"$ref": "b.json"}}, b=tree)
    assert found["$defs"]["b"] == {"properties": {"children": {"items": {"$ref": "#/$defs/b"}}}}


@pytest.mark.parametrize(
    ("tree", "given"),
    [
        (TREE, {"$dynamicAnchor": "node"}),
        (OLD_TREE, {"$schema": DRAFT_2019, "$recursiveAnchor": True}),
    ],
)
def test_a_dynamic_reference_finds_the_schema_that_extends_its_own(
    tmp_path: Path, tree: Json, given: dict[str, Json]
) -> None:
    found = bundled(tmp_path, a={**given, "$ref": "b.json", "unevaluatedProperties": False}, b=tree)
    assert found["$defs"]["b"] == {"properties": {"children": {"items": {"$ref": "#"}}}}


def test_two_references_of_one_schema_both_count(tmp_path: Path) -> None:
    given = {"$ref": "#/$defs/x", "type": "object", "$dynamicRef": "#/$defs/y", "$defs": {"x": {}, "y": {}}}
    assert bundled(tmp_path, a=given) == {
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}],
        "type": "object",
        "$defs": {"x": {}, "y": {}},
    }


def test_keywords_of_other_drafts_refer_to_nothing(tmp_path: Path) -> None:
    given = {"$schema": DRAFT_7, "items": {"title": "T", "$dynamicRef": "#", "$recursiveRef": "#"}}
    assert bundled(tmp_path, a=given) == {"$schema": DRAFT_7, "items": {"title": "T"}}


def test_a_schema_in_a_document_is_a_root_of_its_own(tmp_path: Path) -> None:
    given = {"properties": {"x": {"$ref": "#/$defs/y"}, "self": {"$ref": "#"}}, "$defs": {"y": {"$ref": "b.json"}}}
    schemas = schemas_of(tmp_path, a=[{"completionSchema": given}], b={"type": "string"})
    schema = Schema(given, Place("a.json", (0, "completionSchema")))
    schemas.embed(schema)
    assert json.loads(bundle(schemas, schema)) == {
        **given,
        "$defs": {"y": {"$ref": "#/$defs/b"}, "b": {"type": "string"}},
    }


def test_deep_schemas_are_written(tmp_path: Path) -> None:
    given: dict[str, Json] = {"$ref": "#"}
    for _ in range(2_000):
        given = {"allOf": [given]}
    schemas = schemas_of(tmp_path, a={})
    text = bundle(schemas, Schema(given, Place("a.json")))
    assert text == '{"allOf":[' * 2_000 + '{"$ref":"#"}' + "]}" * 2_000


def test_the_same_schema_gives_the_same_text(tmp_path: Path) -> None:
    schemas = schemas_of(
        tmp_path,
        a={"allOf": [{"$ref": f"b.json#/{name}"} for name in "zyx"]},
        b={name: {"$ref": "a.json"} for name in "xyz"},
    )
    found = schemas.root("a.json")
    assert isinstance(found, Schema)
    first = bundle(schemas, found)
    assert bundle(schemas_of(tmp_path), found) == first
    assert list(json.loads(first)["$defs"]) == ["z", "y", "x"]


def test_a_bundle_says_what_schemas_with_addresses_say(tmp_path: Path) -> None:
    inner = {"$id": "in.json", "properties": {"v": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"const": "in"}}}
    other = {"$id": "https://example.com/other", "$defs": {"x": {"$anchor": "here", "const": "other"}}}
    given = {
        "properties": {"a": {"$ref": "https://example.com/other#here"}, "b": {"$ref": "#/$defs/inner"}},
        "$defs": {"inner": inner, "x": {"const": "out"}},
    }
    made = bundled(tmp_path, a=given, b=other)
    assert "$id" not in json.dumps(made)
    validator = jsonschema.Draft202012Validator(made)
    assert validator.is_valid({"a": "other", "b": {"v": "in"}})
    assert not validator.is_valid({"a": "out"})
    assert not validator.is_valid({"b": {"v": "out"}})


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 10**21, 10**23, 2**63, 2**64 + 1])
@pytest.mark.parametrize("draft", DRAFTS)
def test_a_number_of_a_schema_is_met_by_the_same_number_of_an_answer(tmp_path: Path, draft: str, number: int) -> None:
    text = json.dumps(bundled(tmp_path, a={"$schema": draft, "type": "integer", "enum": [number], "minimum": number}))
    assert AnswerSchemas({"x": text}).complaint("x", normalise(number)) is None
    assert as_text(number) == compact(normalise(number))
