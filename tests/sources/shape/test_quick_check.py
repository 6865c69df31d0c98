"""What is answered without the library is what the library answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
import pytest
import yaml
from campaigns import choose

from stagec.core.json import Json
from stagec.core.version import schema_file
from stagec.sources.shape import quick_check
from stagec.sources.shape.dialects import DIALECTS
from stagec.sources.shape.quick_check import METASCHEMAS, QuickCheck
from stagec.sources.shape.schema import compile_schema

TOP = Path(__file__).parents[3]
ADDRESSES = {kind: address for address, kind in DIALECTS.items()}
NAMES = (
    "steps_registry",
    "agent",
    "pipeline",
    "stage_definition",
    "stage_object",
    "stage_plan",
    "tools",
    "mcp",
    "stagec",
)
VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, 1, -1, 2**53 + 1, 1.0, 0.5, 1e300, "", "a", "é", "a\n", "x-y", "^[a-z]+$", "1.0.0"),
    *(
        [],
        ["a"],
        ["a", "a"],
        [1, 1.0],
        {},
        {"a": 1},
        {"x-a": 1},
        {"$ref": "#/a"},
        {"type": "string"},
        "object",
        "#/$defs/a",
    ),
)
KEYS = (
    "a",
    "x-a",
    "_a",
    "$ref",
    "type",
    "required",
    "properties",
    "enum",
    "steps",
    "name",
    "é",
    "items",
    "stepId",
    "comment",
)


KEYWORDS = sorted({name for each in METASCHEMAS.values() for name in each["properties"]} | {"default", "const"})


class Mutator:
    """Changes copies of documents at random places."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)  # noqa: S311

    def mutate(self, given: Json, times: int) -> Json:
        """Return a copy with so many changes."""
        copy = json.loads(json.dumps(given))
        for _ in range(times):
            places = list(_walk(copy))
            if not places:
                return self._choose()
            owner, key = self._chance.choice(places)
            what = self._chance.random()
            if what < 0.2:
                del owner[key]
            elif what < 0.4 and isinstance(owner, dict):
                owner[self._chance.choice(KEYS)] = self._choose()
            elif what < 0.5:
                other, name = self._chance.choice(places)
                owner[key] = json.loads(json.dumps(other[name])) if name in other or isinstance(other, list) else None
            else:
                owner[key] = self._choose()
        return copy

    def _choose(self) -> Json:
        return json.loads(json.dumps(self._chance.choice(VALUES)))


def _walk(given: Any) -> Iterator[tuple[Any, Any]]:
    for key in range(len(given)) if isinstance(given, list) else given if isinstance(given, dict) else ():
        yield given, key
        yield from _walk(given[key])


@cache
def documents() -> list[Json]:
    """Return what is written in the examples, and the smaller schemas of stagec itself."""
    files = sorted((TOP / "registries").rglob("*.*"))
    schemas = [each for each in sorted((TOP / "schemas").glob("*.json")) if each.stat().st_size < 8_000]
    found: list[Json] = []
    for each in filter(Path.is_file, (*files, *schemas)):
        text = each.read_text(encoding="utf-8", errors="replace").removeprefix("---\n").partition("\n---\n")[0]
        with suppress(yaml.YAMLError):
            given = yaml.safe_load(text) if each.suffix in {".json", ".yaml", ".md"} else None
            found += [given] if isinstance(given, dict) else []
    return found


@pytest.fixture(autouse=True)
def _never_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library not count as loaded, so that the question is not left to it."""
    monkeypatch.setattr(quick_check, "sys", type("Nothing", (), {"modules": {}}))


def compare(given: Json, schema: Any, validator: Any) -> bool | None:
    """Return the quick answer, if there is one; it is that of the library."""
    quick = QuickCheck(10**6).satisfies(given, schema)
    if quick is not None:
        assert quick == validator.is_valid(given), json.dumps(given)[:2000]
    return quick


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_judged_as_by_the_library(name: str) -> None:
    schema = json.loads(Path(schema_file(name)).read_text(encoding="utf-8"))
    validator = compile_schema(schema)
    answers: list[bool | None] = []
    for seed in range(choose(6, whole=80)):
        mutator = Mutator(seed)
        answers.extend(compare(mutator.mutate(each, seed % 4), schema, validator) for each in documents())
    assert answers.count(None) < len(answers) / 2, "the quick answer is worth nothing"


@pytest.mark.parametrize("draft", METASCHEMAS)
def test_schemas_are_judged_as_by_the_library(draft: str) -> None:
    validator = compile_schema({"$ref": ADDRESSES[draft]}, draft)
    answers: list[bool | None] = []
    for seed in range(choose(20, whole=240)):
        mutator = Mutator(seed)
        answers.extend(compare(mutator.mutate(each, seed % 5), METASCHEMAS[draft], validator) for each in documents())
    assert answers.count(True) > len(answers) / 10
    assert answers.count(False) > len(answers) / 10
    assert answers.count(None) < len(answers) / 2


@pytest.mark.parametrize(("draft", "keyword"), [(draft, each) for draft in METASCHEMAS for each in KEYWORDS])
def test_each_keyword_is_judged_as_by_the_library(draft: str, keyword: str) -> None:
    validator = compile_schema({"$ref": ADDRESSES[draft]}, draft)
    for value in VALUES:
        for given in (value, [value], {"a": value}):
            compare({keyword: given}, METASCHEMAS[draft], validator)


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        *(
            ({"uneval": 1}, 1),
            ({"unevaluatedProperties": False}, {}),
            ({"$ref": "other"}, 1),
            ({"type": "integer"}, 1.0),
        ),
        *(({"enum": [1]}, 1.0), ({"pattern": "a$"}, "a\n"), ({"pattern": "\\w"}, "é"), ({"multipleOf": 0.1}, 1)),
        *(({"minimum": 1}, 2**60), ({"uniqueItems": True}, [1, 1.0]), ({"prefixItems": [True], "items": False}, [1])),
        *(
            ({"minimum": 1}, float("nan")),
            ({"minimum": 1}, float("inf")),
            ({"patternProperties": {"a": True}}, {"é": 1}),
        ),
    ],
)
def test_what_is_not_plain_is_left_to_the_library(schema: Any, given: Json) -> None:
    assert QuickCheck().satisfies(given, schema) is None


def test_what_is_large_or_deep_is_left_to_the_library() -> None:
    check = QuickCheck(100)
    assert check.satisfies([1] * 50, {"items": {"type": "integer"}}) is True
    assert check.satisfies([1] * 50, {"items": {"type": "integer"}}) is None
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    assert QuickCheck(10**6).satisfies(deep, {"items": {"$ref": "#"}}) is None


def test_nothing_is_answered_once_the_library_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_check, "sys", type("Loaded", (), {"modules": {"jsonschema_rs": jsonschema_rs}}))
    assert QuickCheck().satisfies(1, True) is None
