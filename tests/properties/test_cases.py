"""Random completion schemas and cases: what is said of cases agrees with trying every result that there can be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema_rs
from campaigns import choose
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from stagec.core.budgets import Budgets
from stagec.languages.stages.condition_errors import (
    ConditionError,
    find_uncovered,
    find_unreached_cases,
    find_wrong_cases,
    is_sound,
)
from stagec.languages.stages.document import Case, Pipeline, Stage
from stagec.languages.stages.read import read
from stagec.sources.read import Sources

SCALARS: list[Any] = ["x", "y", "zzz", 1, 2, 3, 7.5, True, False, None]
"""Every value that a schema below tells from others, and one of each kind that none of them and no case mentions."""
OTHERS: list[Any] = ["unmentioned", 99, {}, []]
ASKED = st.sampled_from(["x", "y", "zzz", 1, 1.0, 2, True, False, None])
LEAVES: list[dict[str, Any]] = [
    {"type": "boolean"},
    {"enum": ["x", "y"]},
    {"enum": ["x", 1, True]},
    {"const": "x"},
    {"type": "null"},
    {"type": ["boolean", "null"]},
    {"type": "integer", "minimum": 1, "maximum": 3},
    {"type": "string"},
    {"type": "number", "exclusiveMaximum": 2},
    {},
]


@st.composite
def objects(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3))
    inner = objects(1) if depth == 0 else st.sampled_from(LEAVES)
    leaves = {name: draw(inner if name == "c" else st.sampled_from(LEAVES)) for name in names}
    schema: dict[str, Any] = {"type": "object", "properties": leaves}
    schema["required"] = draw(st.lists(st.sampled_from("abc" if depth == 0 else "a"), unique=True, max_size=2))
    if set(schema["required"]) <= leaves.keys() and draw(st.booleans()):  # a schema that nothing fits is not meant
        return {**schema, "additionalProperties": False}
    return schema


SCHEMAS = objects() | st.lists(objects(), min_size=2, max_size=2).map(lambda both: {"type": "object", "anyOf": both})


@st.composite
def conditional(draw: st.DrawFn) -> dict[str, Any]:
    """Make a schema that denies something, or more than one alternative of it, or demands more of some values."""
    inside = {name: draw(st.sampled_from(LEAVES[:7])) for name in "ab"}
    required = draw(st.lists(st.sampled_from("ab"), unique=True, min_size=1))
    asked = {name: {"const": draw(st.sampled_from(SCALARS[:9]))} for name in draw(st.sampled_from(["a", "b", "ab"]))}
    told = {"properties": asked, "required": [*asked]}
    schema: dict[str, Any] = {"type": "object", "properties": inside, "required": required}
    schema["additionalProperties"] = False
    match draw(st.integers(0, 3)):
        case 0:
            return {**schema, "not": told}
        case 1:
            return {**schema, "oneOf": [told, draw(objects())]}
        case 2:
            return {**schema, "if": told, "then": {"required": ["a", "b"]}, "else": draw(objects())}
        case _:
            then = {"properties": {draw(st.sampled_from("ab")): {"const": draw(st.sampled_from(SCALARS[:9]))}}}
            return {**schema, "if": told, "then": then}


SCHEMAS = SCHEMAS | conditional()
PATHS = st.sampled_from(["parsed.a", "parsed.b", "parsed.c.a", "parsed.a.b", "parsed", "attemptCount"])
VALUES = ASKED | st.lists(ASKED, min_size=1, max_size=3) | st.booleans().map(lambda there: {"present": there})
VERDICTS = st.sampled_from(["ok", "fail", ["ok", "fail"]])


@st.composite
def whens(draw: st.DrawFn) -> dict[str, Any]:
    when: dict[str, Any] = draw(st.dictionaries(PATHS, VALUES, min_size=1, max_size=2))
    if draw(st.integers(0, 3)) == 0:
        when["verdict"] = draw(VERDICTS)
    if draw(st.integers(0, 5)) == 0:
        when["capHit"] = draw(st.booleans())
    return when


CASES: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    whens().map(lambda when: {"when": when, "stages": []}) | st.just({"stages": []}), min_size=1, max_size=4
)


def pipeline_of(schema: dict[str, Any], cases: list[dict[str, Any]], tries: int = 2) -> tuple[Pipeline, Stage]:
    stage = {"id": "s", "body": "", "turnCap": 1, "completionTool": "t", "completionSchema": schema, "next": cases}
    stage["retryPolicy"] = {"maxAttempts": tries}
    text = json.dumps({"entry": "s", "stages": [stage]}).encode()
    sources = Sources(Path("/nowhere"), Budgets(), {"pipeline.json": text})
    (pipeline,) = read(sources, ("pipeline.json",))
    return pipeline, pipeline.stages[0]


def handed_in(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Try every object of the members that schemas and cases speak of."""
    fits = jsonschema_rs.validator_for(schema).is_valid
    of_a = [..., *SCALARS, *OTHERS, *({"b": each} for each in (*SCALARS, "unmentioned"))]
    of_c = [..., "x", 99, {}, *({"a": each} for each in (*SCALARS, *OTHERS))]
    found = product(of_a, [..., *SCALARS, *OTHERS], of_c)
    candidates = ({name: each for name, each in zip("abc", one, strict=True) if each is not ...} for one in found)
    return [each for each in candidates if fits(each)]


def results(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    valid = handed_in(schema)
    for attempt in (1, 2):
        yield from ({"verdict": "ok", "capHit": False, "attemptCount": attempt, "parsed": each} for each in valid)
    for attempt in (0, 1, 2):
        yield from ({"verdict": "fail", "capHit": False, "attemptCount": attempt, "parsed": each} for each in valid)
        yield from ({"verdict": "fail", "capHit": hit, "attemptCount": attempt} for hit in (True, False))


def equal(one: Any, other: Any) -> bool:
    return (
        isinstance(one, bool) is isinstance(other, bool)
        and type(one) in {str, int, float, bool, type(None)}
        and one == other
    )


def holds(path: str, wanted: Any, result: Any) -> bool:
    found = result
    for name in path.split("."):
        found = found.get(name, ...) if isinstance(found, dict) else ...
    if isinstance(wanted, dict):
        return (found is not ...) is wanted["present"]
    return any(equal(found, each) for each in (wanted if isinstance(wanted, list) else [wanted]))


def fits(case: dict[str, Any], result: dict[str, Any]) -> bool:
    when = case.get("when", {})
    if result["verdict"] == "fail" and "verdict" not in when:
        return False
    return all(holds(path, wanted, result) for path, wanted in when.items())


@settings(max_examples=choose(15, whole=60), deadline=None)
@given(SCHEMAS, CASES)
def test_a_result_without_a_case_is_found_exactly_when_there_is_one(
    schema: dict[str, Any], cases: list[dict[str, Any]]
) -> None:
    pipeline, stage = pipeline_of(schema, cases)
    assume(all(is_sound(pipeline, stage, case) for case in stage.conduct.cases))
    assume(not all(case.is_recovery for case in stage.conduct.cases))
    accepted = [each for each in results(schema) if each["verdict"] == "ok"]
    assume(accepted)
    missed = any(not any(fits(case, each) for case in cases) for each in accepted)
    found = find_uncovered(pipeline, stage)
    event(f"uncovered: {missed}, {'told' if found is None or found.exact else 'uncertain'}")
    assert (found is not None) is missed or (found is not None and not found.exact)


@settings(max_examples=choose(15, whole=60), deadline=None)
@given(SCHEMAS, CASES)
def test_a_case_is_called_unreached_exactly_when_no_result_comes_to_it(
    schema: dict[str, Any], cases: list[dict[str, Any]]
) -> None:
    pipeline, stage = pipeline_of(schema, cases)
    sound = [is_sound(pipeline, stage, each) for each in stage.conduct.cases]
    every = list(results(schema))
    assume(any(each["verdict"] == "ok" for each in every))
    firsts = {next((i for i, case in enumerate(cases) if sound[i] and fits(case, each)), None) for each in every}
    bare = next((i for i, case in enumerate(cases) if "when" not in case), None)
    lost = {i for i in range(len(cases)) if sound[i] and i not in firsts and i != bare}
    event(f"unreached: {bool(lost)}")
    at: dict[Any, int] = {case.at: i for i, case in enumerate(stage.conduct.cases)}
    assert {
        at[each.judged.at] for each in find_unreached_cases(pipeline, stage) if isinstance(each.judged, Case)
    } == lost


@settings(max_examples=choose(15, whole=60), deadline=None)
@given(SCHEMAS, CASES)
def test_a_value_or_a_path_is_called_impossible_only_when_no_result_has_it(
    schema: dict[str, Any], cases: list[dict[str, Any]]
) -> None:
    pipeline, _ = pipeline_of(schema, cases)
    every = list(results(schema))
    assume(any(each["verdict"] == "ok" for each in every))
    for each in find_wrong_cases(pipeline):
        found = each.wrong
        path = ".".join(found.condition.path)
        if found.kind is ConditionError.VALUE:
            assert not any(holds(path, [found.given], result) for result in every)
        elif found.kind is ConditionError.PATH:
            assert not any(holds(path, {"present": True}, result) for result in every)


DENIED_TOGETHER = {
    "type": "object",
    "properties": {"a": {"const": "x"}, "b": {"type": "integer", "minimum": 1, "maximum": 3}},
    "required": ["a"],
    "additionalProperties": False,
    "not": {"properties": {"a": {"const": "x"}, "b": {"const": 1}}, "required": ["a", "b"]},
}
"""It denies a value beside another one that nobody asks about, and that is always there."""


@settings(max_examples=choose(15, whole=60), deadline=None)
@given(SCHEMAS, st.sampled_from(["a", "b", "c.a", "a.b"]), ASKED)
@example(DENIED_TOGETHER, "b", 1)
@example({**DENIED_TOGETHER, "not": {"properties": {"b": {"const": 2}}, "required": ["b"]}}, "b", 2)
def test_a_value_that_no_result_has_is_called_impossible(schema: dict[str, Any], path: str, value: Any) -> None:
    pipeline, _ = pipeline_of(schema, [{"when": {f"parsed.{path}": value}, "stages": []}, {"stages": []}])
    every = list(results(schema))
    assume(any(each["verdict"] == "ok" for each in every))
    if not any(holds(f"parsed.{path}", value, each) for each in every):
        assert [each.wrong.kind for each in find_wrong_cases(pipeline)]
