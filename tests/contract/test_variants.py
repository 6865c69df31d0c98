"""Paths of any length into schemas of any recursion are followed, or it is said that they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec.core.budgets import AnswerBudgets, Budgets
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.contract.variants import Variants, variants
from stagec.sources.read import Sources

DEEPEST = AnswerBudgets().depth
RECURSIVE: dict[str, dict[str, Any]] = {
    "one way": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "two ways": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
    "all of it": {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
}


def found(folder: Path, body: dict[str, Any], length: int) -> Variants | None:
    (folder / "a.json").write_text(json.dumps(body), encoding="utf-8")
    schemas = Schemas(Sources(folder, Budgets()))
    root = schemas.root("a.json")
    assert isinstance(root, Schema)
    return variants(schemas, root, {("a",) * length: (1,)})


@pytest.mark.parametrize("body", [RECURSIVE["one way"], RECURSIVE["all of it"]], ids=["one way", "all of it"])
def test_a_path_as_long_as_an_answer_is_deep_is_followed(tmp_path: Path, body: dict[str, Any]) -> None:
    assert found(tmp_path, body, DEEPEST) is not None


@pytest.mark.parametrize("body", RECURSIVE.values(), ids=RECURSIVE)
@pytest.mark.parametrize("length", [DEEPEST + 1, 180, 2_000, 100_000])
def test_of_a_longer_one_nothing_is_said(tmp_path: Path, body: dict[str, Any], length: int) -> None:
    assert found(tmp_path, body, length) is None


def test_two_ways_at_every_level_are_not_followed_to_their_end(tmp_path: Path) -> None:
    found(tmp_path, RECURSIVE["two ways"], DEEPEST)
