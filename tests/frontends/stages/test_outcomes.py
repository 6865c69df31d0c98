"""Which results a stage can have, read from its schema, its policies, its checks and its hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stagec.core.budgets import Budgets
from stagec.languages.stages.condition_errors import find_uncovered, find_unreached_cases, find_unreached_checks
from stagec.languages.stages.document import Pipeline, Stage, StageCondition
from stagec.languages.stages.outcomes import Fitting, Result, list_unjudged, outcomes
from stagec.languages.stages.read import read
from stagec.sources.contract.variants import ABSENT, OTHER, PathValue
from stagec.sources.read import Sources

FLAG = {"type": "object", "required": ["done"], "properties": {"done": {"type": "boolean"}}}


def _read(cases: list[Any], schema: Any = FLAG, **more: Any) -> tuple[Pipeline, Stage]:
    own = {"id": "s", "body": "", "turnCap": 1, "completionTool": "t", "completionSchema": schema}
    text = json.dumps({"entry": "s", "stages": [{**own, "next": cases, **more}]}).encode()
    (pipeline,) = read(Sources(Path("/nowhere"), Budgets(), {"pipeline.json": text}), ("pipeline.json",))
    return pipeline, pipeline.stages[0]


def _when(**conditions: Any) -> dict[str, Any]:
    return {"when": {name.replace("_", "."): each for name, each in conditions.items()}, "stages": []}


def _told(results: tuple[Result, ...]) -> set[tuple[str, ...]]:
    return {tuple(f"{'.'.join(path)}={_text(each)}" for path, each in sorted(one.items())) for one in results}


def _text(standing: PathValue) -> str:
    return str(standing.given) if standing.asked or standing.exemplary else "other" if standing.present else "-"


def _accepted(cases: list[Any], schema: Any = FLAG, **more: Any) -> set[str]:
    """Return what stands at `parsed.done` and `capHit` of every result that is not a failure."""
    pipeline, stage = _read(cases, schema, **more)
    found = outcomes(pipeline.schemas, stage)
    assert found is not None
    accepted = [each for each in found.results if each[("verdict",)].given != "fail"]
    paths = ("verdict",), ("parsed", "done"), ("capHit",)
    return {" ".join(_text(each.get(path, ABSENT)) for path in paths) for each in accepted}


DONE = [_when(parsed_done=True), {"stages": []}]
CHECK = [{"when": {"parsed.done": False}, "verdict": "fail"}]


def test_what_is_accepted_fits_the_schema_and_has_not_hit_its_cap() -> None:
    assert _accepted(DONE) == {"ok True False", "ok False False"}


def test_a_check_takes_results_away() -> None:
    assert _accepted(DONE, checks=CHECK) == {"ok True False"}


def test_an_assert_hook_may_accept_anything() -> None:
    found = {"ok True False", "ok False False", "ok - True"}
    assert _accepted(DONE, checks=CHECK, hooks={"assert": "a:b"}) == found


def test_a_gate_and_a_policy_let_a_stage_be_skipped() -> None:
    gate = {"defer": {"branch": "main"}}
    found = _accepted(DONE, gate=gate, resolutionPolicy={"defer": "skip", "block": "fail"})
    assert found == {"ok True False", "ok False False", "skip - False"}
    assert _accepted(DONE, resolutionPolicy="skip") == {"ok True False", "ok False False"}


def test_values_that_nobody_asks_for_are_one() -> None:
    schema = {"type": "object", "required": ["done"], "properties": {"done": {"enum": ["a", "b", "c", "d"]}}}
    assert _accepted([_when(parsed_done="b")], schema) == {"ok b False", "ok a False"}


def test_attempts_are_counted_up_to_the_policy() -> None:
    pipeline, stage = _read([_when(attemptCount=[1, 2, 3])], retryPolicy={"maxAttempts": 2})
    found = outcomes(pipeline.schemas, stage)
    assert found is not None
    accepted = {_text(each[("attemptCount",)]) for each in found.results if each[("verdict",)].given == "ok"}
    assert accepted == {"1", "2"}


def test_checks_are_shown_every_attempt() -> None:
    pipeline, stage = _read([], checks=[*CHECK, {"when": {"capHit": True}, "verdict": "fail"}])
    done, count = "parsed.done", "attemptCount=other"
    shown = {(count, "capHit=False", f"{done}=False"), (count, "capHit=False", f"{done}=True")}
    assert _told(list_unjudged(pipeline.schemas, stage) or ()) == {*shown, (count, "capHit=True", f"{done}=-")}


def test_too_many_results_are_not_looked_at() -> None:
    members = {f"p{index}": {"type": "boolean"} for index in range(16)}
    case = {"when": {f"parsed.{name}": True for name in members}, "stages": []}
    pipeline, stage = _read([case, case], {"type": "object", "properties": members})
    assert outcomes(pipeline.schemas, stage) is None
    assert [each.judged.at.pointer[-1] for each in find_unreached_cases(pipeline, stage)] == [1]


def test_a_condition_compares_as_json_does() -> None:
    at = _read([])[1].at
    one: Result = {("parsed", "n"): PathValue(True, True, 1)}
    other: Result = {("parsed", "n"): OTHER}
    fitting = Fitting((one, other))
    assert fitting.meeting([StageCondition(("parsed", "n"), at, (1.0,))]) == {0}
    assert fitting.meeting([StageCondition(("parsed", "n"), at, (True,))]) == frozenset()
    assert fitting.meeting([StageCondition(("parsed", "n"), at, present=True)]) == {0, 1}
    assert fitting.meeting([StageCondition(("parsed", "m"), at, present=False)]) == {0, 1}
    assert fitting.meeting([]) == {0, 1}


def test_a_case_that_brackets_an_index_means_an_element() -> None:
    titles = {"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}}
    schema = {"type": "object", "required": ["titles"], "properties": {"titles": titles}}
    cases = [{"when": {"parsed.titles[0]": each}, "stages": []} for each in ("a", "b")]
    pipeline, stage = _read(cases, schema)
    assert find_uncovered(pipeline, stage) is None


def test_a_check_behind_one_without_conditions_is_never_asked() -> None:
    pipeline, stage = _read([], checks=[{"verdict": "fail"}, *CHECK])
    assert [each.judged.at.pointer[-1] for each in find_unreached_checks(pipeline, stage)] == [1]
