"""Stages that run together: their turn, their failures, strict cancelling, and the join."""

from __future__ import annotations

import pytest
from runtime.stages.talks import DONE, END, FAILED, Run, admission, calls, pipeline, stage, submit, to

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Hole
from stagec.ir.plan.document import Limits, Plan
from stagec.ir.plan.gate import Among
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Node, Outcome
from stagec.runtime.machine.exchange import Turn
from stagec.runtime.machine.gate import may_join

BUSY = (Among(("ctx", "busy"), (True,)),)


def forked(*nodes: str, join: str | None = "j", parallel: int = 4, **others: Node) -> Plan:
    """Return a pipeline that begins with a fork after `a`."""
    first = stage(edges=(Edge("ok", Fork(nodes, join)), Edge("fail", FAILED)))
    made = {name: stage() for name in (*nodes, *((join,) if join else ()))}
    return replace(pipeline(a=first, **{**made, **others}), limits=Limits(20, Outcome.FAILED, parallel))


def spawned(plan: Plan, **inputs: Json) -> Run:
    """Return a run whose fork has just been opened."""
    run = Run(plan, **inputs)
    run.answer(submit(n=0))
    return run


def failing(run: Run, name: str) -> None:
    """Make a stage fail: its model cannot be asked."""
    run.answer({"error": "down"}, f"{name}#1/1.0")


def test_siblings_begin_together_in_their_order_with_no_results() -> None:
    run = spawned(forked("x", "y"))
    assert [each.key for each in run.step.effects] == ["r/x#1/1.0", "r/y#1/1.0"]
    assert run.facts("StageEntered", "stageId", "upstreamCount", "compoundTurnId") == [
        ["a", 0, None],
        ["x", 0, "r/a#1/fork"],
        ["y", 0, "r/a#1/fork"],
    ]


def test_no_more_nodes_act_than_may_at_a_time() -> None:
    run = spawned(forked("x", "y", "z", parallel=2))
    assert list(run.step.state.active) == ["r/x#1", "r/y#1"]
    run.answer(submit(n=2), "y#1/1.0")
    assert list(run.step.state.active) == ["r/x#1", "r/z#1"]


def test_a_join_is_handed_the_results_in_the_order_of_the_fork_whatever_ended_first() -> None:
    join = stage(prompt=(Hole(("ctx", "upstream")),), hooks={"setup": "m:f"})
    run = spawned(forked("x", "y", "z", j=join))
    for name, number in (("z", 3), ("x", 1), ("y", 2)):
        run.answer(submit(n=number), f"{name}#1/1.0")
    assert [each["parsed"]["n"] for each in run.given["ctx"]["upstream"]] == [1, 2, 3]


def test_one_session_turn_spans_the_siblings_and_the_join() -> None:
    run = spawned(forked("x", "y", j=stage(edges=to("b")), b=stage()))
    run.answer(submit(), "x#1/1.0")
    run.answer(submit(), "y#1/1.0")
    run.answers(submit(), submit())
    told = [(each.name, each.facts["turnId"]) for each in run.told if each.name.startswith("Session")]
    turns = ["r/a#1", "r/a#1/fork", "r/b#1"]
    assert told == [(name, turn) for turn in turns for name in ("SessionTurnStart", "SessionTurnEnd")]


def test_the_session_turn_of_a_fork_without_join_ends_with_its_last_sibling() -> None:
    run = spawned(forked("x", "y", join=None))
    run.answer(submit(), "x#1/1.0")
    run.answer(submit(), "y#1/1.0")
    assert run.end == (Outcome.DONE, "completed")
    assert run.names("Stage", "Provider", "Tool")[-4:] == [
        "SessionTurnEnd",
        "SessionTurnStart",
        "SessionTurnEnd",
        "WorkflowExit",
    ]


class TestTheFirstThatFails:
    def test_cancels_all_others_and_ends_the_run(self) -> None:
        run = spawned(forked("x", "y", "z", z=stage("Read")))
        run.answer(calls(("1", "Read", {}), ("2", "Read", {})), "z#1/1.0")
        failing(run, "y")
        assert run.end == (Outcome.FAILED, "y: provider-failed")
        assert run.step.void == ("r/x#1/1.0", "r/z#1/1.1", "r/z#1/1.2")
        failure = {"failedSiblingId": "y", "compoundTurnId": "r/a#1/fork", "joinReady": False}
        tail = [(each.name, each.facts) for each in run.step.trace[-7:]]
        seq, where = run.step.state.traced, {"workflowRunId": "r"}
        of_x = {**where, "stageId": "x", "stageExecutionId": "r/x#1", "attempt": 1, "compoundTurnId": "r/a#1/fork"}
        of_z = {**of_x, "stageId": "z", "stageExecutionId": "r/z#1"}
        error = {"class": "ExtensionHost", "code": "ParallelSiblingFailure", **failure}
        why = {"kind": "provider-failed", "node": "y", "visit": 1, "attempt": 1, "detail": "down"}
        reason = "y, attempt 1: the provider failed: down"
        ended = {"status": "failed", "lastStage": "y", "reason": reason, "error": error, "failure": why}
        turn = {"compoundTurnId": "r/a#1/fork", "turnId": "r/a#1/fork"}
        assert tail == [
            ("ParallelSiblingFailure", {"seq": seq - 6, **where, **failure}),
            ("StageCancelled", {"seq": seq - 5, **of_x, "cause": "ParallelSiblingFailure"}),
            ("ToolInvocationCancelled", {"seq": seq - 4, **of_z, "tool": "Read", "proposalId": "1"}),
            ("ToolInvocationCancelled", {"seq": seq - 3, **of_z, "tool": "Read", "proposalId": "2"}),
            ("StageCancelled", {"seq": seq - 2, **of_z, "cause": "ParallelSiblingFailure"}),
            ("SessionTurnEnd", {"seq": seq - 1, **where, **turn}),
            ("WorkflowExit", {"seq": seq, **where, **ended}),
        ]

    def test_lets_nothing_of_the_others_exit(self) -> None:
        run = spawned(forked("x", "y", x=stage(hooks={"exit": "m:f"})))
        failing(run, "y")
        assert (run.step.effects, run.facts("StageExited", "stageId")) == ((), ["a", "y"])

    def test_keeps_those_that_wait_from_beginning(self) -> None:
        run = spawned(forked("x", "y", parallel=1))
        failing(run, "x")
        assert run.facts("StageEntered", "stageId") == ["a", "x"]

    def test_may_be_one_that_was_skipped(self) -> None:
        run = spawned(forked("x", "y", y=stage(admission=admission("skip", defer=BUSY))), busy=True)
        assert run.end == (Outcome.FAILED, "y: skipped")
        assert run.facts("ParallelSiblingFailure", "failedSiblingId") == ["y"]

    def test_may_be_mended_by_a_branch_of_its_own(self) -> None:
        mended = stage(edges=(Edge("ok", DONE), Edge("fail", Go("m"))))
        run = spawned(forked("x", "y", y=mended, m=stage(), j=stage(hooks={"setup": "m:f"})))
        failing(run, "y")
        run.answer(submit(n=1), "x#1/1.0")
        run.answer(submit(n=2), "m#1/1.0")
        assert [each["parsed"]["n"] for each in run.given["ctx"]["upstream"]] == [1, 2]
        assert run.facts("StageEntered", "stageId", "compoundTurnId")[-2:] == [["m", "r/a#1/fork"], ["j", "r/a#1/fork"]]


class TestTheJoin:
    def test_does_not_run_when_a_failure_was_declared_an_end(self) -> None:
        run = spawned(forked("x", "y", y=stage(edges=(Edge("ok", DONE), Edge("fail", DONE)))))
        failing(run, "y")
        run.answer(submit(), "x#1/1.0")
        assert run.end == (Outcome.FAILED, "j: cannot-join")
        error = {"class": "ExtensionHost", "code": "JoinPreconditionViolated", "stageId": "j"}
        assert run.facts("WorkflowExit", "error") == [error]

    def test_that_fails_ends_the_run_as_failed(self) -> None:
        run = spawned(forked("x", "y"))
        run.answer(submit(), "x#1/1.0")
        run.answer(submit(), "y#1/1.0")
        failing(run, "j")
        assert run.end == (Outcome.FAILED, "j: provider-failed")
        assert run.facts("WorkflowExit", "error") == [
            {"class": "ExtensionHost", "code": "LifecycleFailure", "stageId": "j"}
        ]
        assert run.names()[-2:] == ["SessionTurnEnd", "WorkflowExit"]

    @pytest.mark.parametrize(
        ("verdicts", "wanted"), [(["ok", "ok"], True), (["ok", "fail"], False), (["skip"], False), ([None, "ok"], True)]
    )
    def test_may_run_when_every_result_that_has_a_verdict_was_accepted(
        self, verdicts: list[str | None], *, wanted: bool
    ) -> None:
        assert may_join([{} if each is None else {"verdict": each} for each in verdicts]) is wanted


class TestCancelling:
    def test_ends_the_run_and_everything_in_it_in_the_order_in_which_it_began(self) -> None:
        run = spawned(forked("x", "y"))
        step = run.cancel()
        assert (run.end, step.void, step.effects) == ((Outcome.FAILED, "x: cancelled"), ("r/x#1/1.0", "r/y#1/1.0"), ())
        assert [(each.name, each.facts.get("stageId"), each.facts.get("cause")) for each in step.trace] == [
            ("StageCancelled", "x", "TurnCancelled"),
            ("StageCancelled", "y", "TurnCancelled"),
            ("SessionTurnEnd", None, None),
            ("WorkflowExit", None, None),
        ]
        assert step.trace[-1].facts["error"] == {"class": "Cancellation", "code": "TurnCancelled"}

    def test_a_single_stage_lets_it_neither_exit_nor_lead_anywhere(self) -> None:
        run = Run(pipeline(a=stage(hooks={"exit": "m:f"}, edges=to("b")), b=stage()))
        step = run.cancel()
        assert step.effects == ()
        assert [each.name for each in step.trace] == ["StageCancelled", "SessionTurnEnd", "WorkflowExit"]
        assert step.trace[-1].facts["lastStage"] == "a"

    def test_after_the_end_changes_nothing(self) -> None:
        run = Run(pipeline(a=stage()))
        ended = run.answer(submit()).state
        step = run.cancel()
        assert (step.state, step.trace) == (ended, ())


@pytest.mark.parametrize("nodes", [(), ("x",)])
def test_a_fork_of_fewer_than_two_ends_the_run(nodes: tuple[str, ...]) -> None:
    run = spawned(forked(*nodes))
    assert run.end == (Outcome.FAILED, "a: small-fork")
    assert run.facts("WorkflowExit", "error") == [{"class": "ExtensionHost", "code": "InvalidParallelPlan"}]


def test_a_bound_that_is_reached_while_siblings_begin_cancels_those_that_have() -> None:
    plan = replace(forked("x", "y", "z"), limits=Limits(3, Outcome.FAILED, 4))
    run = spawned(plan)
    assert run.end == (Outcome.FAILED, "z: bound-reached")
    assert run.facts("StageCancelled", "stageId", "cause") == [["x", "WorkflowExit"], ["y", "WorkflowExit"]]
    assert run.names()[-2:] == ["SessionTurnEnd", "WorkflowExit"]


def test_a_fork_in_a_branch_is_part_of_the_same_session_turn() -> None:
    inner = stage(edges=(Edge("ok", DONE), Edge("fail", Fork(("p", "q"), "k"))))
    run = spawned(forked("x", "y", x=inner, p=stage(), q=stage(), k=stage()))
    failing(run, "x")
    for name in ("p", "q", "k", "y", "j"):
        run.answer(submit(n=1), f"{name}#1/1.0")
    assert run.end == (Outcome.DONE, "completed")
    assert run.facts("SessionTurnStart", "turnId") == ["r/a#1", "r/a#1/fork"]
    assert run.facts("SessionTurnEnd", "turnId") == ["r/a#1", "r/a#1/fork"]
    entered = run.facts("StageEntered", "stageId", "compoundTurnId")
    assert entered[3:6] == [["p", "r/x#1/fork"], ["q", "r/x#1/fork"], ["k", "r/x#1/fork"]]


def test_stages_of_a_chain_are_session_turns_of_their_own_and_handed_the_result_before() -> None:
    first = stage(edges=(Edge("ok", Chain(("x", "y"))), Edge("fail", FAILED)))
    handed = stage(prompt=(Hole(("ctx", "upstream", 0, "parsed", "n")),))
    run = Run(pipeline(a=first, x=handed, y=handed))
    texts = []
    for number in (1, 2, 3):
        texts.append(run.turn.transcript[0].text)
        run.answer(submit(n=number))
    assert (texts, run.end) == (["Work.", "1", "2"], (Outcome.DONE, "completed"))
    assert run.facts("SessionTurnStart", "turnId") == ["r/a#1", "r/x#1", "r/y#1"]


def test_a_stage_of_a_chain_that_fails_is_no_failed_sibling() -> None:
    first = stage(edges=(Edge("ok", Chain(("x", "y"))), Edge("fail", FAILED)))
    run = Run(pipeline(a=first, x=stage(), y=stage()))
    run.answer(submit())
    failing(run, "x")
    assert (run.end, run.facts("ParallelSiblingFailure", "failedSiblingId")) == (
        (Outcome.FAILED, "x: provider-failed"),
        [],
    )
    assert run.facts("StageEntered", "stageId") == ["a", "x"]


def test_a_chain_of_nothing_is_over_at_once() -> None:
    run = Run(pipeline(a=stage(edges=(Edge("ok", Chain(())), *END[1:]))))
    run.answer(submit())
    assert run.end == (Outcome.DONE, "completed")


def test_siblings_see_the_same_inputs() -> None:
    task = stage(prompt=(Hole(("ctx", "task")),))
    run = spawned(forked("x", "y", x=task, y=task), task="t")
    assert [each.transcript[0].text for each in run.step.effects if isinstance(each, Turn)] == ["t", "t"]
