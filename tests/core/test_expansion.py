"""What schemas expand to is counted, not expanded, and is never less than what judging by them does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from campaigns import choose

from stagec.core.budgets import Budgets
from stagec.core.expansion import (
    ENDLESS,
    Expansion,
    LocalReferences,
    PatternTally,
    backtracks,
    extent,
    find_charge,
    pattern_size,
    pattern_steps,
    steps,
    texts_of,
)

Schema = dict[str, Any]
LEAF: Schema = {"type": "object"}
TWICE: dict[str, Callable[[Schema], Schema]] = {
    "allOf": lambda ref: {"allOf": [ref, {**ref}]},
    "anyOf": lambda ref: {"anyOf": [{"not": ref}, ref]},
    "oneOf": lambda ref: {"oneOf": [ref, {"not": ref}]},
    "if and then": lambda ref: {"if": ref, "then": ref},
    "if and else": lambda ref: {"if": ref, "else": ref},
    "beside a reference": lambda ref: {**ref, "not": {"not": ref}},
    "dependentSchemas": lambda ref: {"dependentSchemas": {"a": ref, "b": ref}},
    "dependencies": lambda ref: {"dependencies": {"a": ref, "b": ref}},
    "one property": lambda ref: {"properties": {"a": {"allOf": [ref, ref]}}},
    "two keywords of one property": lambda ref: {"properties": {"a": ref}, "patternProperties": {"a": ref}},
    "property names": lambda ref: {"properties": {"a": ref}, "propertyNames": ref},
    "other properties": lambda ref: {"additionalProperties": {"allOf": [ref, ref]}},
    "unevaluated properties": lambda ref: {"allOf": [ref], "unevaluatedProperties": False},
    "unevaluated items": lambda ref: {"allOf": [ref], "unevaluatedItems": False},
    "items and contains": lambda ref: {"items": ref, "contains": ref},
    "prefix items": lambda ref: {"prefixItems": [{"allOf": [ref, ref]}]},
    "items by index": lambda ref: {"items": [{"allOf": [ref, ref]}], "additionalItems": ref},
}
ONCE: dict[str, Callable[[Schema], Schema]] = {
    "allOf": lambda ref: {"allOf": [ref]},
    "two properties": lambda ref: {"properties": {"left": ref, "right": ref}},
    "property and others": lambda ref: {"properties": {"left": ref}, "additionalProperties": ref},
    "items by index": lambda ref: {"prefixItems": [ref, ref, ref]},
    "members and elements": lambda ref: {"properties": {"a": ref}, "items": ref},
}


def chain(levels: int, level: Callable[[Schema], Schema], naming: str = "pointer") -> Schema:
    """Return a schema of so many levels, each referring to the next."""

    def refer(number: int) -> Schema:
        if naming == "dynamic":
            return {"$dynamicRef": f"#k{number}"}
        return {"$ref": {"pointer": "#/$defs/k{}", "anchor": "#k{}", "address": "urn:k{}"}[naming].format(number)}

    def name(number: int) -> Schema:
        named = {"anchor": "$anchor", "dynamic": "$dynamicAnchor", "address": "$id"}.get(naming)
        return {} if named is None else {named: f"urn:k{number}" if naming == "address" else f"k{number}"}

    parts = {f"k{n}": {**name(n), **level(refer(n + 1))} for n in range(levels)}
    return {**refer(0), "$defs": {**parts, f"k{levels}": {**name(levels), **LEAF}}}


def weighed(schema: Schema) -> tuple[Expansion, int]:
    expansion = Expansion()
    expansion.add((schema,), LocalReferences(schema).resolve)
    return expansion, expansion.weight(schema)


def deep(levels: int) -> Any:
    given: Any = {}
    for _ in range(levels):
        given = {"a": given}
    return given


@pytest.mark.parametrize("level", TWICE.values(), ids=TWICE)
def test_what_doubles_at_each_level_weighs_more_than_any_budget(level: Callable[[Schema], Schema]) -> None:
    assert weighed(chain(40, level))[1] > 2**39
    assert weighed(chain(2, level))[1] < Budgets().expansion


@pytest.mark.parametrize("naming", ["anchor", "address", "dynamic"])
def test_it_does_so_under_every_kind_of_name(naming: str) -> None:
    assert weighed(chain(40, TWICE["allOf"], naming))[1] > 2**39


@pytest.mark.parametrize("level", ONCE.values(), ids=ONCE)
def test_what_judges_each_place_once_weighs_what_is_written(level: Callable[[Schema], Schema]) -> None:
    assert weighed(chain(400, level))[1] < 400 * 10


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"not": {"$ref": "#"}}]},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}},
        {"items": {"$anchor": "x", "if": {"$ref": "#x"}}},
        {"$recursiveRef": "#"},
    ],
)
def test_a_schema_that_comes_back_to_itself_at_the_same_place_is_endless(schema: Schema) -> None:
    assert weighed(schema)[1] == ENDLESS


def test_a_recursion_into_the_value_costs_what_the_value_asks_for() -> None:
    once: Schema = {"properties": {"a": {"$ref": "#"}}}
    twice: Schema = {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    assert [weighed(each)[1] < 10 for each in (once, twice)] == [True, True]
    assert steps(weighed(once)[0], 0, deep(30), 10**6) < 200
    assert steps(weighed(twice)[0], 0, deep(30), 10**6) > 10**6
    assert steps(weighed(twice)[0], 0, deep(3), 10**6) < 100


def make_schema(chance: Random, levels: int) -> Schema:
    """Return a schema of keywords whose cost follows from the size of a value."""
    made: Schema = {}
    for key in chance.sample(KEYWORDS, chance.randint(0, 4)):
        made[key] = PLAIN[key]
    for key in chance.sample(APPLYING, chance.randint(0, 3)) if levels else ():
        inner = [make_schema(chance, levels - 1) for _ in range(chance.randint(1, 3))]
        named = dict(zip("abc", inner, strict=False))
        made[key] = named if key == "properties" else inner if key in LISTS else inner[0]
    return made


PLAIN: Schema = {
    "enum": ["a", ["a"], {"a": 1}],
    "const": {"b": []},
    "required": ["a", "b"],
    "uniqueItems": True,
    "maxLength": 5,
    "format": "date",
    "unevaluatedProperties": False,
}
KEYWORDS = sorted(PLAIN)
LISTS = ("allOf", "anyOf", "prefixItems")
APPLYING = ("properties", *LISTS, "items", "contains", "additionalProperties", "propertyNames", "not", "if", "then")


def make_value(chance: Random, levels: int) -> Any:
    count = chance.randint(0, 4)
    kind = chance.choice(["text", "array", "object"]) if levels else "text"
    if kind == "text":
        return chance.choice("abc") * chance.randint(0, 60)
    inner = [make_value(chance, levels - 1) for _ in range(count)]
    return inner if kind == "array" else dict(zip(("a", "b", "c", "another name"), inner, strict=False))


@pytest.mark.parametrize("seed", range(choose(60, whole=2_000)))
def test_a_charge_is_never_less_than_what_is_counted(seed: int) -> None:
    chance = Random(seed)
    expansion, _ = weighed(make_schema(chance, 3))
    charge = find_charge(expansion, 0)
    assert charge is not None
    for _ in range(20):
        given = make_value(chance, 4)
        assert charge.most(extent(given, 10**6)) >= steps(expansion, 0, given, 10**9)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#"}}},
        {"allOf": [{"$ref": "#"}]},
        {"items": {"pattern": "a"}},
        {"patternProperties": {"a": {}}},
        {"not": {"multipleOf": 0.1}},
        {"propertyNames": {"format": "regex"}},
        {"additionalProperties": {"$ref": "https://json-schema.org/draft/2020-12/schema"}},
    ],
)
def test_what_depends_on_more_than_the_size_of_a_value_has_no_charge(schema: Schema) -> None:
    assert find_charge(weighed(schema)[0], 0) is None


def test_a_chain_of_very_many_references_needs_no_recursion() -> None:
    assert weighed(chain(choose(5_000, whole=100_000), lambda ref: ref))[1] < 10**6


def test_schemas_that_are_added_later_use_what_is_known() -> None:
    shared = chain(10, TWICE["allOf"])
    expansion, weight = weighed(shared)
    outer: Schema = {"allOf": [shared, shared]}
    expansion.add((outer,), LocalReferences(outer).resolve)
    assert expansion.weight(outer) >= 2 * weight
    assert expansion.weight(shared) == weight


def test_the_extent_of_a_value() -> None:
    size = extent({"ab": [1, "xyz", {"c": None}]}, 100)
    assert (size.values, size.depth, size.characters) == (6, 4, 6)
    assert extent(deep(100_000), 10**6).depth == 100_001


@pytest.mark.parametrize(
    "pattern",
    [r"\p{L}{199}", r"(?:\p{L}{20}){10}", "((a{99}){99}){99}", r"[^\P{L}]{199}", "a{999999999999}", ".{9999}"],
)
def test_patterns_that_become_large(pattern: str) -> None:
    assert PatternTally(Budgets()).excess(pattern) == "size"


@pytest.mark.parametrize(
    "pattern",
    [r"^[a-z0-9]+(-[a-z0-9]+)*$", r"^\p{L}{1,40}$", ".{500}", "a{1000}", r"^\d{4}-\d{2}-\d{2}$", "(((", "]{2}"],
)
def test_patterns_that_do_not(pattern: str) -> None:
    assert PatternTally(Budgets()).excess(pattern) == ""


def test_many_patterns_together() -> None:
    tally = PatternTally(Budgets())
    found = [tally.excess(rf"x{number}\p{{L}}{{50}}") for number in range(40)]
    assert (found[0], found[-1]) == ("", "total")
    assert tally.excess(r"x0\p{L}{50}") == ""


def test_a_megabyte_of_any_pattern_is_read_once() -> None:
    many = choose(20_000, whole=200_000)
    assert pattern_size("(a+)+" * many + "(" * 5 * many) > 5 * many


@pytest.mark.parametrize(
    ("pattern", "tried"), [("(?=a)b", True), (r"(a)\1", True), ("(?<!a)b", True), (r"\(?=a", False), ("a+?b", False)]
)
def test_which_patterns_are_judged_by_trying(pattern: str, *, tried: bool) -> None:
    assert backtracks(pattern) is tried


@pytest.mark.parametrize(
    "inner", [r"[\p{L}[a]]", r"[^[:alpha:]]", r"[a&&[\p{L}]]", r"[\p{L}\p{N}]", r"[]\p{L}]", r"[\W]"]
)
def test_a_repeated_set_costs_what_it_has_as_often_as_it_is_repeated(inner: str) -> None:
    assert pattern_size(inner + "{999}") > 900 * (pattern_size(inner) - 100)


def test_a_set_that_no_bracket_ends_is_read_once() -> None:
    assert pattern_size("[" * 10**6) < 10**8


@pytest.mark.parametrize(
    ("pattern", "longer"), [("[ab]*a[ab]{900}c", 2), (r"(?!c)[ab]*c", 4), (r"(a)\1[ab]{50}", 4), ("^[a-z]+$", 2)]
)
def test_what_a_pattern_costs_grows_with_texts(pattern: str, longer: int) -> None:
    short, long = (pattern_steps(pattern, texts_of(["a" * length])) for length in (100_000, 200_000))
    assert 0.9 * longer < long / short < 1.1 * longer
