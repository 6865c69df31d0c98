"""Random schemas in every dialect, perhaps malformed in odd places: what is found clean can be used at run time."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.campaigns import choose

from stagec.core.budgets import Budgets
from stagec.runtime.machine.answer_schemas import prepare
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.expansion import judge_expansion, judge_reached, reach_named
from stagec.sources.contract.reach import references_in
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources
from stagec.sources.shape import judge_schema
from stagec.sources.shape.dialects import Dialect

FILES = ("a.json", "b.json")
PLACES = ("$defs", "definitions", "x-parts", "properties", "patternProperties", "dependentSchemas", "dependencies")
DATA = ("default", "examples", "const", "enum")
ONES = ("items", "additionalProperties", "not", "if", "then", "contains", "propertyNames", "unevaluatedItems", "other")
LISTS = ("allOf", "anyOf", "prefixItems", "items")
BROKEN: list[dict[str, Any]] = [
    {"type": "strnig"},
    {"type": 5},
    {"required": "a"},
    {"minLength": -1},
    {"enum": 1},
    {"properties": {"a": 5}},
    {"pattern": "("},
    {"exclusiveMinimum": True},
    {"exclusiveMinimum": 1},
    {"items": 5},
    {"allOf": []},
    {"const": 1, "if": 5},
    {"prefixItems": {}},
    {"dependentRequired": []},
    {"minimum": "1"},
    {"contains": 1},
    {"multipleOf": 0},
]
FINE: list[dict[str, Any]] = [{}, {"type": "string"}, {"const": 1}, {"minimum": 1}, {"title": "T", "x-more": 5}]


class Maker:
    """Makes the files of one project."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311
        self.pointers: list[str] = []

    def file(self, name: str) -> dict[str, Any]:
        root: dict[str, Any] = {"$schema": self.chance.choice(tuple(Dialect)).address}
        if self.chance.random() < 0.3:
            del root["$schema"]
        for member in ("issue", "y z"):
            root[member] = self.schema(f"{name}#/{member.replace(' ', '%20')}", 3)
        return root

    def schema(self, at: str, depth: int) -> Any:
        chance = self.chance
        self.pointers.append(at)
        if depth == 0 or chance.random() < 0.3:
            return dict(chance.choice(BROKEN if chance.random() < 0.12 else FINE))
        made: dict[str, Any] = {}
        if chance.random() < 0.1:
            made["$schema"] = chance.choice(tuple(Dialect)).address
        for key in chance.sample(PLACES + DATA[:2], 2):
            made[key] = {"n": self.schema(f"{at}/{key}/n", depth - 1)}
        for key in chance.sample(ONES, 1):
            made[key] = self.schema(f"{at}/{key}", depth - 1)
        for key in chance.sample(LISTS, 1) if chance.random() < 0.5 else ():
            made[key] = [self.schema(f"{at}/{key}/0", depth - 1)]
        return made

    def refer(self, given: Any) -> None:
        """Put references to random places into a schema."""
        todo = [given]
        for each in todo:
            if isinstance(each, dict) and self.chance.random() < 0.2:
                each["$ref"] = self.chance.choice(self.pointers)
            todo += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()


def _make(seed: int) -> dict[str, Any]:
    maker = Maker(seed)
    made = {name: maker.file(name) for name in FILES}
    maker.refer(made["a.json"]["issue"])
    return made


def _judge(files: dict[str, Any]) -> Sources:
    """Return the files as a project judges them; the second is none of its own."""
    sources = Sources(Path("/nowhere"), Budgets(), {name: json.dumps(each).encode() for name, each in files.items()})
    tree = sources.tree("a.json", "schema")
    assert tree is not None
    sources.replace(judge_expansion(sources, judge_schema(tree, sources.budgets, sources.patterns)))
    reach_named(sources, "a.json", "issue")
    judge_reached(sources)
    return sources


def _is_in_error(sources: Sources) -> bool:
    faults = [fault for tree in sources.trees for fault in tree.faults if fault.topic != "ineffective-keyword"]
    schemas = Schemas(sources)
    lost = [each for each in references_in(schemas, schemas.root("a.json")) if isinstance(each.found, Miss)]
    return bool(faults or lost)


@pytest.mark.parametrize("seed", range(choose(60, whole=1_000)))
def test_a_schema_without_errors_can_be_used(seed: int) -> None:
    sources = _judge(_make(seed))
    if not _is_in_error(sources):
        schemas = Schemas(sources)
        found = schemas.find_named("a.json", "issue")
        assert isinstance(found, Schema)
        prepare(bundle(schemas, found))


def test_many_schemas_are_clean_and_many_are_not() -> None:
    clean = [_is_in_error(_judge(_make(seed))) for seed in range(100)].count(False)
    assert 10 < clean < 90


@pytest.mark.parametrize(
    ("files", "at"),
    [
        ({"a.json": {"issue": {"$ref": "#/x/y"}, "x": {"y": {"type": 5}}}}, ("x", "y", "type")),
        ({"a.json": {"issue": {"$ref": "#/issue/default", "default": {"type": 5}}}}, ("issue", "default", "type")),
        ({"a.json": {"issue": {"$ref": "#/issue/enum/0", "enum": [{"type": 5}]}}}, ("issue", "enum", 0, "type")),
        ({"a.json": {"issue": {"$ref": "b.json#/n/m"}}, "b.json": {"n": {"m": {"type": 5}}}}, ("n", "m", "type")),
        ({"a.json": {"issue": {"$ref": "b.json"}}, "b.json": {"items": {"type": 5}}}, ("items", "type")),
        (
            {"a.json": {"$schema": Dialect.FOUR.address, "issue": {"$ref": "#/issue/$defs/n", "$defs": {"n": True}}}},
            ("issue", "$defs", "n"),
        ),
    ],
)
def test_what_a_reference_leads_to_is_judged_where_it_stands(files: dict[str, Any], at: tuple[str | int, ...]) -> None:
    trees = _judge(files).trees
    assert [fault.at.pointer for tree in trees for fault in tree.about("invalid-schema")] == [at]
    assert all(fault.at.file == tree.file for tree in trees for fault in tree.faults)
