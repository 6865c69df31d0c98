"""Whether the work is done where no gate says so."""

from __future__ import annotations

import pytest
from runtime.stages.talks import Run
from runtime.steps.flows import AGAIN, flow, judged, step, where

from stagec.core.json import Json
from stagec.ir.plan.gate import JudgeGate
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.exchange import Judge

ISSUE: Json = {"type": "poll:state", "config": {"resourceType": "issue"}}
KEYWORD: Json = {"type": "detect:keyword", "config": {"verdictKeyword": "DONE"}}
GRAPH: Json = {"type": "detect:graph"}


def done(kind: str, answer: Json, **settings: Json) -> bool:
    """Tell whether a run is over after one answer."""
    run = Run(judged(kind, **settings))
    run.answer({"answer": answer})
    return run.end[0] is Outcome.DONE


@pytest.mark.parametrize(
    ("kind", "settings", "rounds"),
    [("count:iteration", {"maxIterations": 3}, 3), ("count:check", {"maxChecks": 2}, 2)],
)
def test_counting_judges_find_the_work_done_after_so_many_rounds(
    kind: str, settings: dict[str, Json], rounds: int
) -> None:
    run = Run(judged(kind, **settings))
    taken = 0
    while run.end[0] is None:
        run.answer({"answer": {}})
        taken += 1
    assert (taken, run.end) == (rounds, (Outcome.DONE, "completed"))


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"summary": "It is DONE now"}, True),
        ({"deep": [{"list": ["no", "DONE"]}]}, True),
        ({"summary": "done"}, False),
        ({"DONE": True}, False),
        ({}, False),
    ],
)
def test_a_keyword_is_sought_in_every_text(answer: Json, *, wanted: bool) -> None:
    assert done("detect:keyword", answer, verdictKeyword="DONE") is wanted


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"type": "end", "why": 1, "what": None}, True),
        ({"signal": [{"type": "end", "why": 1, "what": 2}]}, True),
        ({"type": "end", "why": 1}, False),
        ({"type": "END", "why": 1, "what": 1}, False),
        ({"why": 1, "what": 1}, False),
    ],
)
@pytest.mark.parametrize("fields", [["why", "what"], {"why": "string", "what": "string"}], ids=["names", "object"])
def test_a_signal_has_its_type_and_all_fields(answer: Json, fields: Json, *, wanted: bool) -> None:
    assert done("detect:structured", answer, signalType="end", requiredFields=fields) is wanted


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"status": "completed"}, True),
        ({"complete": True}, True),
        ({"status": "complete"}, False),
        ({"complete": 1}, False),
        ({"complete": "true"}, False),
    ],
)
def test_a_graph_is_done_when_it_says_so(answer: Json, *, wanted: bool) -> None:
    assert done("detect:graph", answer) is wanted


@pytest.mark.parametrize("kind", ["poll:state", "meta:custom"])
@pytest.mark.parametrize(("answer", "over"), [(True, True), (False, False), ("true", False), (1, False), (None, False)])
def test_the_world_is_asked_about_what_only_it_knows(kind: str, answer: Json, *, over: bool) -> None:
    run = Run(judged(kind, resourceType="issue"))
    run.answer({"answer": {"said": 1}})
    assert run.next == Judge("r/a#1/1.1", kind, {"resourceType": "issue"}, {"said": 1})
    run.answer({"done": answer})
    assert (run.end[0] is Outcome.DONE) is over


@pytest.mark.parametrize(
    ("operator", "answer", "world", "wanted"),
    [
        ("and", {"text": "DONE", "complete": True}, True, True),
        ("and", {"text": "DONE", "complete": True}, False, False),
        ("and", {"text": "DONE"}, True, False),
        ("or", {"text": "DONE"}, False, True),
        ("or", {}, True, True),
        ("or", {}, False, False),
        ("first", {}, True, True),
        ("first", {"complete": True}, False, True),
        ("first", {"text": "DONE"}, False, True),
        ("first", {}, False, False),
        (None, {"text": "DONE", "complete": True}, True, True),
        (None, {"text": "DONE"}, True, False),
    ],
)
def test_a_composite_judge_combines_what_its_conditions_say(
    operator: Json, answer: Json, *, world: bool, wanted: bool
) -> None:
    run = Run(judged("meta:composite", operator=operator, conditions=[KEYWORD, ISSUE, GRAPH]))
    run.answer({"answer": answer})
    run.answer({"done": world})
    assert (run.end[0] is Outcome.DONE) is wanted


@pytest.mark.parametrize("operator", ["and", "or", "first"])
def test_a_composite_judge_without_conditions_never_finds_the_work_done(operator: str) -> None:
    assert not done("meta:composite", {}, operator=operator, conditions=[])


def test_a_composite_judge_asks_the_world_one_question_after_the_other() -> None:
    run = Run(judged("meta:composite", operator="and", conditions=[ISSUE, KEYWORD, {"type": "meta:custom"}]))
    run.answer({"answer": {"text": "DONE"}})
    kinds = []
    while isinstance(run.next, Judge):
        kinds.append(run.next.kind)
        run.answer({"done": True})
        if run.end[0] is not None:
            break
    assert (kinds, run.end[0]) == (["poll:state", "meta:custom"], Outcome.DONE)


def test_a_composite_in_a_composite_never_finds_the_work_done() -> None:
    inner: Json = {"type": "meta:composite", "config": {"operator": "or", "conditions": [GRAPH]}}
    assert not done("meta:composite", {"complete": True}, operator="or", conditions=[inner])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("count:iteration", {}),
        ("count:iteration", {"maxIterations": True}),
        ("count:check", {"maxChecks": "1"}),
        ("detect:keyword", {}),
        ("detect:structured", {}),
        ("detect:structured", {"signalType": None}),
        ("detect:structured", {"signalType": "end", "requiredFields": [["why"]]}),
        ("meta:composite", {"operator": "or"}),
        ("meta:composite", {"operator": ["or"], "conditions": [KEYWORD]}),
        ("no:kind", {}),
    ],
    ids=str,
)
def test_a_judge_that_lacks_what_it_needs_never_finds_the_work_done(kind: str, settings: dict[str, Json]) -> None:
    assert not done(kind, {"type": "end", "other": {"why": 1}}, **settings)


def test_without_a_judge_the_work_is_never_done() -> None:
    run = Run(flow(a=step(*AGAIN, gate=JudgeGate())))
    run.answer({"answer": {"status": "completed"}})
    assert where(run) == "a"
