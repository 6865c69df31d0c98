"""A keyword counts in a draft exactly where the library that judges answers looks at it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Place
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources
from stagec.sources.shape.dialects import Dialect, drop_ignored, list_ignored, read_in

TEXT: dict[str, Json] = {"type": "string"}
FORBIDS: list[tuple[str, dict[str, Json], Json]] = [
    ("const", {"const": 1}, 2),
    ("contains", {"contains": TEXT}, [1]),
    ("propertyNames", {"propertyNames": {"maxLength": 1}}, {"ab": 1}),
    ("if", {"if": {}, "then": TEXT}, 1),
    ("else", {"if": {"not": {}}, "else": TEXT}, 1),
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ("dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
    ("dependencies", {"dependencies": {"a": ["b"]}}, {"a": 1}),
    ("dependencies", {"dependencies": {"a": {"required": ["b"]}}}, {"a": 1}),
    ("minContains", {"contains": {}, "minContains": 3}, [1]),
    ("maxContains", {"contains": {}, "maxContains": 1}, [1, 2]),
    ("unevaluatedProperties", {"unevaluatedProperties": False}, {"a": 1}),
    ("unevaluatedProperties", {"unevaluatedProperties": TEXT}, {"a": 1}),
    ("unevaluatedItems", {"unevaluatedItems": False}, [1]),
    ("prefixItems", {"prefixItems": [TEXT]}, [1]),
    ("additionalItems", {"items": [{}], "additionalItems": TEXT}, [1, 1]),
    ("$recursiveRef", {"type": "object", "additionalProperties": {"$recursiveRef": "#"}}, {"a": 1}),
    ("$dynamicRef", {"type": "object", "additionalProperties": {"$dynamicRef": "#"}}, {"a": 1}),
    ("type", {"allOf": [{"$ref": "#/definitions/x", **TEXT}], "definitions": {"x": {}}}, 1),
    ("type", {"$ref": "#/definitions/x", "definitions": {"x": {}}, **TEXT}, 1),
    ("$ref", {"$ref": "#/definitions/x", "definitions": {"x": TEXT}}, 1),
    ("$ref", {"$ref": "#/$defs/x", "$defs": {"x": TEXT}}, 1),
    ("exclusiveMinimum", {"exclusiveMinimum": 1}, 1),
    ("exclusiveMinimum", {"minimum": 1, "exclusiveMinimum": True}, 1),
    ("minimum", {"minimum": 1, "exclusiveMinimum": False}, 0),
    ("items", {"items": [TEXT]}, [1]),
    ("items", {"items": TEXT}, [1]),
    ("not", {"not": TEXT}, "a"),
    *((key, {key: [TEXT]}, 1) for key in ("allOf", "anyOf", "oneOf")),
    ("enum", {"enum": ["a"]}, 1),
    ("required", {"required": ["a"]}, {}),
    ("additionalProperties", {"additionalProperties": False}, {"a": 1}),
    ("patternProperties", {"patternProperties": {"a": TEXT}}, {"a": 1}),
    ("pattern", {"pattern": "^b"}, "a"),
    ("multipleOf", {"multipleOf": 2}, 1),
    ("uniqueItems", {"uniqueItems": True}, [1, 1]),
    *((key, {key: 1}, given) for key, given in (("minLength", ""), ("minItems", []), ("minProperties", {}))),
    *((key, {key: 0}, given) for key, given in (("maxLength", "a"), ("maxItems", [1]), ("maxProperties", {"a": 1}))),
]


def _is_valid_schema(draft: Dialect, schema: dict[str, Json]) -> bool:
    return bool(jsonschema_rs.meta.is_valid({"$schema": draft.address, **schema}))


EVERYWHERE = [(draft, *each) for draft in Dialect for each in FORBIDS if _is_valid_schema(draft, each[1])]


def _holding(schema: Json, keyword: str) -> Any:
    """Return the part of a schema that has a keyword."""
    todo: list[Any] = [schema]
    for each in todo:
        if isinstance(each, dict) and keyword in each:
            return each
        todo += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    raise AssertionError(keyword)


@pytest.mark.parametrize(("draft", "keyword", "schema", "given"), EVERYWHERE)
def test_a_keyword_is_ignored_where_the_library_ignores_it(
    draft: Dialect, keyword: str, schema: dict[str, Json], given: Json
) -> None:
    whole = {"$schema": draft.address, **schema}
    accepted = jsonschema_rs.validator_for(whole).is_valid(given)
    assert (keyword in list_ignored(_holding(whole, keyword), draft)) is accepted


@pytest.mark.parametrize(("draft", "keyword", "schema", "given"), EVERYWHERE)
def test_a_bundle_judges_as_the_schema_does(draft: Dialect, keyword: str, schema: dict[str, Json], given: Json) -> None:
    whole = {"$schema": draft.address, **schema}
    data = json.dumps(whole).encode()
    schemas = Schemas(Sources(Path("/nowhere"), Budgets(), {"a.json": data}))
    bundled = json.loads(bundle(schemas, Schema(whole, Place("a.json"))))
    assert jsonschema_rs.validator_for(whole).is_valid(given) is jsonschema_rs.validator_for(bundled).is_valid(given), (
        keyword
    )


def test_what_counts_is_the_schema_itself_where_all_counts() -> None:
    schema = {"$schema": Dialect.OF_2020.address, "$ref": "#", "type": "object", "const": 1}
    assert drop_ignored(schema, Dialect.OF_2020) is schema
    assert read_in(schema, Dialect.OF_2020) is schema


def test_exclusive_bounds_are_read_as_numbers() -> None:
    assert read_in({"minimum": 1, "exclusiveMinimum": True, "type": "number"}, Dialect.FOUR) == {
        "type": "number",
        "exclusiveMinimum": 1,
    }
    assert read_in({"maximum": 1, "exclusiveMaximum": False}, Dialect.FOUR) == {"maximum": 1}
