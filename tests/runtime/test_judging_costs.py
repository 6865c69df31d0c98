"""Judging an answer ends, whatever the answer and its schema are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stagec.core.budgets import AnswerBudgets
from stagec.runtime.answer_schemas import AnswerSchemas

MOST = AnswerBudgets()


def complaint(schema: Any, given: Any) -> str | None:
    return AnswerSchemas({"s": json.dumps(schema)}).complaint("s", given)


def deep(levels: int, key: str | None = None) -> Any:
    given: Any = {} if key else []
    for _ in range(levels - 1):
        given = {key: given} if key else [given]
    return given


def test_an_answer_is_as_deep_as_it_may_be_and_no_deeper() -> None:
    assert complaint({"items": {"$ref": "#"}}, deep(MOST.depth)) is None
    assert complaint({"items": {"$ref": "#"}}, deep(MOST.depth + 1)) == "it has more than 128 levels"
    assert complaint({}, deep(100_000)) == "it has more than 128 levels"


def test_an_answer_is_as_large_as_it_may_be_and_no_larger() -> None:
    assert complaint({"items": {"type": "integer"}}, [1] * (MOST.values - 1)) is None
    assert complaint({}, [1] * MOST.values) == "it has more than 200,000 values"
    assert complaint({}, "x" * (MOST.characters + 1)) == "it has more than 4,000,000 characters"


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_recursion_that_multiplies_is_judged_as_long_as_it_is_cheap(keyword: str) -> None:
    both = [{"$ref": "#"}, {"$ref": "#", "minProperties" if keyword == "oneOf" else "maxProperties": 5}]
    schema = {"type": "object", "properties": {"a": {keyword: both}}}
    assert complaint(schema, deep(4, "a")) is None
    assert complaint(schema, deep(60, "a")) == "judging it by its schema takes more than 20,000,000 steps"


def test_the_first_of_very_many_complaints_is_enough() -> None:
    schema = {"items": {"required": [f"n{number}" for number in range(1_000)]}}
    found = complaint(schema, [{}] * 1_000)
    assert found is not None
    assert "is a required property" in found
    assert len(found) < 100


@pytest.mark.parametrize("pattern", ["^(?=a)(a|aa)+(?!b)\\1$", "(?=(a+)+$)x", "^(a+)+$"])
def test_patterns_that_try_are_given_up(pattern: str) -> None:
    found = complaint({"items": {"pattern": pattern}}, ["a" * 300 + "b"] * 1_000)
    assert found is not None


def test_patterns_in_answers_are_compiled_within_a_budget() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "items": {"format": "regex"}}
    assert complaint(schema, ["^a+$", "[a-z]{2,9}"]) is None
    assert complaint(schema, ["("]) is not None
    assert complaint(schema, [r"\p{L}{99}"] * 1_000) is not None


def test_a_pattern_of_a_validator_is_bounded_too() -> None:
    payloads = AnswerSchemas({})
    assert payloads.matches("^ok$", "ok")
    assert not payloads.matches(r"(\p{L}{99}){99}|ok", "ok")


def test_unique_items_of_any_kind_are_compared_in_time() -> None:
    assert complaint({"uniqueItems": True}, [{"a": number, "b": [number]} for number in range(40_000)]) is None
    assert complaint({"uniqueItems": True}, [{"a": 1}] * 2) is not None
