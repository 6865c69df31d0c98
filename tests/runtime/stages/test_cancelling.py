"""A branch that is cancelled stops where it is: nothing more is asked of it, it does not exit, and answers are void."""

from __future__ import annotations

from typing import Any

import pytest
from runtime.stages.talks import FAILED, Run, admission, calls, hooked, pipeline, stage, submit

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Among, Backoff, Check, Exists, Retry
from stagec.ir.plan.node import Edge, Fork, Outcome
from stagec.runtime.machine import Answered
from stagec.runtime.machine.exchange import Call, Confirm, Effect, Grant, Hook, Turn, Wait

GATE = admission(
    "retry-later",
    "ask",
    defer=(Exists(("ctx", "busy"), present=True),),
    block=(Among(("ctx", "busy"), ("blocked",)),),
)
LATER = Retry(3, Backoff("fixed", 5))
READ, BASH = calls(("1", "Read", {})), calls(("1", "Bash", {}))
BOTH = calls(("1", "Read", {}), ("2", "Read", {}))
DONE: Json = {"value": True}

PLACES: dict[str, tuple[type[Effect], dict[str, Any], list[Json]]] = {
    "the setup": (Hook, {"hooks": {"setup": "m:setup"}}, []),
    "the gate": (Hook, {"hooks": {"gate": "m:gate"}}, []),
    "the wait for admission": (Wait, {"admission": GATE, "retry": LATER, "busy": True}, []),
    "the question whether it may act": (Confirm, {"admission": GATE, "busy": "blocked"}, []),
    "the input": (Hook, {"slot": "RECEIVE_INPUT/pre guard m"}, []),
    "the request": (Hook, {"slot": "COMPOSE_REQUEST/pre observer m"}, []),
    "a turn": (Turn, {}, []),
    "a later turn": (Turn, {}, [READ, {"value": 1}]),
    "a grant": (Grant, {}, [BASH]),
    "a call": (Call, {}, [READ]),
    "the second of two calls": (Call, {}, [BOTH, {"value": 1}]),
    "the result of a call": (Hook, {"slot": "TOOL_CALL/post transform m"}, [READ, {"value": 1}]),
    "what is shown": (Hook, {"slot": "RENDER/post observer m"}, [submit()]),
    "the judgement": (Hook, {"hooks": {"assert": "m:assert"}}, [submit()]),
    "the wait for another attempt": (Wait, {"checks": (Check("retry"),), "retry": LATER}, [submit()]),
    "the exit": (Hook, {"hooks": {"exit": "m:exit"}}, [submit()]),
}


def forked(slot: str | None, **members: Any) -> Plan:
    """Return a pipeline in which `x`, which has some members, and `y` run together."""
    fork = (Edge("ok", Fork(("x", "y"), "j")), Edge("fail", FAILED))
    plan = pipeline(a=stage(edges=fork), x=stage("Read", **members), y=stage(), j=stage())
    return plan if slot is None else replace(plan, session=hooked(slot))


def pending(run: Run, node: str) -> str:
    """Return the key of what a node has asked first and nobody has answered."""
    return next(key for key in run.step.state.pending if key.startswith(f"r/{node}#"))


def led(place: str) -> Run:
    """Lead a run to where `x` waits at a place."""
    _, members, answers = PLACES[place]
    members = dict(members)
    inputs = {"busy": members.pop("busy")} if "busy" in members else {}
    run = Run(forked(members.pop("slot", None), **members), **inputs)
    while not any(key.startswith("r/x#") for key in run.step.state.pending):
        run.answer(DONE if isinstance(run.next, Hook) else submit())
    for answer in answers:
        run.event(Answered(pending(run, "x"), answer))
    return run


@pytest.mark.parametrize("place", PLACES)
def test_the_failure_of_another_branch_cancels_one_wherever_it_waits(place: str) -> None:
    run = led(place)
    key = pending(run, "x")
    assert type(run.step.state.pending[key]) is PLACES[place][0]
    while isinstance(run.step.state.pending[pending(run, "y")], Hook):
        run.event(Answered(pending(run, "y"), DONE))
    run.event(Answered(pending(run, "y"), {"error": "gone"}))
    assert (run.end, dict(run.step.state.pending)) == ((Outcome.FAILED, "y: provider-failed"), {})
    assert (key in run.step.void, run.facts("StageCancelled", "stageId", "cause")) == (
        True,
        [["x", "ParallelSiblingFailure"]],
    )
    assert "x" not in run.facts("StageExited", "stageId")
    late = run.event(Answered(key, {"value": 1}))
    assert (late.effects, late.trace) == ((), ())


@pytest.mark.parametrize("place", PLACES)
def test_somebody_who_cancels_the_run_cancels_all_of_it(place: str) -> None:
    run = led(place)
    run.cancel()
    assert (run.end, dict(run.step.state.pending)) == ((Outcome.FAILED, "x: cancelled"), {})
    assert run.facts("StageCancelled", "stageId", "cause") == [["x", "TurnCancelled"], ["y", "TurnCancelled"]]
    (error,) = run.facts("WorkflowExit", "error")
    assert (error["class"], error["code"]) == ("Cancellation", "TurnCancelled")
    assert not {"x", "y"} & set(run.facts("StageExited", "stageId"))
