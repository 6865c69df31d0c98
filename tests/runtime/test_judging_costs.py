"""Judging an answer ends, whatever the answer and its schema are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stagec.core.budgets import AnswerBudgets
from stagec.runtime.machine.answer_schemas import AnswerSchemas

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
    schemas = AnswerSchemas({})
    assert schemas.matches("^ok$", "ok")
    assert not schemas.matches(r"(\p{L}{99}){99}|ok", "ok")


def test_unique_items_of_any_kind_are_compared_in_time() -> None:
    assert complaint({"uniqueItems": True}, [{"a": number, "b": [number]} for number in range(40_000)]) is None
    assert complaint({"uniqueItems": True}, [{"a": 1}] * 2) is not None


LONG = "ab" * 1_000_000
DEARER: dict[str, tuple[Any, Any]] = {
    "lengths of a text": ({"maxLength": 9}, LONG),
    "a pattern with many states": ({"pattern": "[ab]*a[ab]{90}c"}, LONG),
    "a pattern that tries": ({"pattern": "(?!c)[ab]*c"}, LONG[:100_000]),
    "patterns of names": ({"patternProperties": {f"x{n}": True for n in range(99)}}, {str(n): 1 for n in range(9_000)}),
    "a pattern of names that tries": ({"patternProperties": {"(?!c)[ab]*c": True}}, {f"{n}": 1 for n in range(9_000)}),
    "names of members": ({"propertyNames": {"pattern": "(?!c)[ab]*c"}}, {f"{n}": 1 for n in range(9_000)}),
    "a list of arrays": ({"enum": [[0] * 5_000 + [n] for n in range(9)]}, [0] * 5_001),
    "one array": ({"const": [0] * 90_000}, [0] * 90_000),
    "different elements": ({"uniqueItems": True}, list(range(90_000))),
    "members left over": ({"anyOf": [True, False], "unevaluatedProperties": False}, {f"{n}": 1 for n in range(90_000)}),
    "elements left over": ({"contains": {"const": 1}, "unevaluatedItems": False}, [1] * 90_000),
    "divisions": ({"items": {"multipleOf": 1e-300}}, [1e300] * 9_000),
    "large numbers": ({"items": {"minimum": 3}}, [10**4_000] * 900),
}


@pytest.mark.parametrize(("schema", "given"), DEARER.values(), ids=DEARER)
def test_what_looks_at_all_of_a_large_value_is_not_asked_a_thousand_times(schema: Any, given: Any) -> None:
    often = {"allOf": [{"$ref": "#/$defs/it"}] * 900, "$defs": {"it": schema}}
    assert complaint(often, given) == "judging it by its schema takes more than 20,000,000 steps"


@pytest.mark.parametrize("pattern", ["(?!c)[ab]*c", "[ab]*a[ab]{900}c"])
def test_a_pattern_that_takes_too_long_is_not_found_in_a_text(pattern: str) -> None:
    schemas = AnswerSchemas({})
    assert schemas.matches(pattern, "abc" * 10) is (pattern[0] == "(")
    assert not schemas.matches(pattern, LONG + "c")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"dependentRequired": {f"{n}": [f"{m}" for m in range(30)] for n in range(30)}},
    ],
)
def test_what_one_keyword_stands_for_counts(schema: Any) -> None:
    assert complaint({"items": schema}, [{}] * 90) is None
    assert complaint({"items": schema}, [{}] * 90_000) == "judging it by its schema takes more than 20,000,000 steps"


def test_many_values_are_judged_as_quickly_as_they_are_alike() -> None:
    schema = {"items": {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}}
    assert complaint(schema, [{"a": 1, "b": "x"}] * 60_000) is None
