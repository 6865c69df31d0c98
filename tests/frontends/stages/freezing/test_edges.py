"""From checks, cases and edges to those of a plan."""

from __future__ import annotations

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.core.json import Json
from stagec.ir.plan.gate import Among, Check, Exists, VerdictGate
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Outcome, Stop

DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
ENDS = (Edge("ok", DONE), Edge("fail", FAILED))
SCHEMA: Json = {
    "type": "object",
    "required": ["good", "many"],
    "properties": {"good": {"type": "boolean"}, "many": {"type": "integer"}, "list": {"type": "array"}},
}


def test_a_stage_after_which_nothing_comes_ends_the_run(machine: Freezing) -> None:
    assert machine(stage("plan")).nodes["plan"].edges == ENDS


def test_one_stage_comes_after_another(machine: Freezing) -> None:
    assert machine(stage("a", next="b"), stage("b")).nodes["a"].edges == (Edge("ok", Go("b")), Edge("fail", FAILED))


def test_stages_run_together_with_and_without_a_join(machine: Freezing) -> None:
    fork: dict[str, Json] = {"stages": ["b", "c"], "execution": "parallel"}
    stages = [stage(name) for name in "bcd"]
    assert machine(stage("a", next=fork), *stages).nodes["a"].edges[0] == Edge("ok", Fork(("b", "c")))
    joined = machine(stage("a", next={**fork, "join": "d"}), *stages)
    assert joined.nodes["a"].edges[0] == Edge("ok", Fork(("b", "c"), "d"))
    assert joined.nodes["b"].edges == ENDS


def test_stages_run_one_after_the_other(machine: Freezing) -> None:
    plan = machine(stage("a", next={"stages": ["b", "c", "b"]}), stage("b"), stage("c"))
    assert plan.nodes["a"].edges[0] == Edge("ok", Chain(("b", "c", "b")))


def test_cases_keep_their_order_and_their_conditions(machine: Freezing) -> None:
    cases: Json = [
        {"when": {"parsed.good": True, "parsed.many": [1, 2]}, "stages": ["b"]},
        {"when": {"parsed.list[0].x": {"present": True}}, "terminate": True},
        {"when": {"verdict": "fail", "reason": "retry-exhausted"}, "stages": ["b"]},
        {"stages": []},
    ]
    assert machine(stage("a", next=cases, completionSchema=SCHEMA), stage("b")).nodes["a"].edges == (
        Edge("ok", Go("b"), (Among(("parsed", "good"), (True,)), Among(("parsed", "many"), (1, 2)))),
        Edge("ok", DONE, (Exists(("parsed", "list", "0", "x"), present=True),)),
        Edge("fail", Go("b"), (Among(("verdict",), ("fail",)), Among(("reason",), ("retry-exhausted",)))),
        Edge("ok", DONE),
        Edge("fail", FAILED),
    )


@pytest.mark.parametrize("verdict", [["ok", "fail"], ["fail", "ok"], {"present": True}], ids=str)
def test_a_case_for_every_verdict_is_taken_on_every_verdict(machine: Freezing, verdict: Json) -> None:
    plan = machine(stage("a", next=[{"when": {"verdict": verdict}, "stages": ["b"]}]), stage("b"))
    first, second, last = plan.nodes["a"].edges
    assert (first.on, second.on) == ("ok", "fail")
    assert (first.target, first.when) == (second.target, second.when) == (Go("b"), first.when)
    assert last == Edge("fail", FAILED)


def test_a_case_that_asks_for_the_verdict_ok_is_not_taken_on_a_failure(machine: Freezing) -> None:
    plan = machine(stage("a", next=[{"when": {"verdict": "ok"}, "stages": ["b"]}]), stage("b"))
    assert [(each.on, each.target) for each in plan.nodes["a"].edges] == [("ok", Go("b")), ("fail", FAILED)]


def test_checks_become_judgements_with_their_reasons(machine: Freezing) -> None:
    checks: Json = {
        "a": [
            {"when": {"capHit": True}, "verdict": "fail", "reason": "not in time"},
            {"when": {"parsed.good": {"present": False}}, "verdict": "retry"},
        ]
    }
    schema: Json = {"type": "object", "properties": {"good": {"type": "boolean"}}}
    assert machine(stage("a", completionSchema=schema), checks=checks).nodes["a"].gate == VerdictGate(
        (
            Check("fail", (Among(("capHit",), (True,)),), "not in time"),
            Check("retry", (Exists(("parsed", "good"), present=False),)),
        )
    )


def test_a_stage_that_always_fails_has_no_edge_for_anything_else(machine: Freezing) -> None:
    recovery: Json = [{"when": {"verdict": "fail"}, "stages": ["b"]}]
    plan = machine(stage("a", next=recovery), stage("b"), checks={"a": [{"verdict": "fail"}]})
    assert plan.nodes["a"].gate == VerdictGate((Check("fail"),))
    assert plan.nodes["a"].edges == (Edge("fail", Go("b"), (Among(("verdict",), ("fail",)),)), Edge("fail", FAILED))


def test_checks_and_routes_may_stand_in_the_stage(project: Freezing) -> None:
    own = "{checks: [{verdict: retry, when: {attemptCount: 1}}], next: {stages: []}}"
    node = project(markdown(stagec=own, retryPolicy="{maxAttempts: 2, backoff: none}")).nodes["plan"]
    assert node.gate == VerdictGate((Check("retry", (Among(("attemptCount",), (1,)),)),))
    assert node.edges == ENDS


def test_a_fan_out_inside_a_recovery_is_followed(machine: Freezing) -> None:
    recovery: Json = [{"when": {"verdict": "fail"}, "stages": ["d"]}]
    fork: Json = {"stages": ["b", "c"], "execution": "parallel"}
    plan = machine(stage("a", next=fork), stage("b", next=recovery), stage("c"), stage("d"))
    assert plan.nodes["b"].edges == (
        Edge("fail", Go("d"), (Among(("verdict",), ("fail",)),)),
        Edge("ok", DONE),
        Edge("fail", FAILED),
    )
