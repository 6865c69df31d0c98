"""Every way in which a run can fail, and what the run says of it: the node, the attempt, and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from handmade import process, scheduled
from phased import issue_flow
from runtime.phases.issues import Issue, again, phased, strict
from runtime.processes.play import Play
from runtime.stages.talks import Run, alone, hooked, pipeline, stage, submit, to
from runtime.stages.test_deadlines import limited, timed
from runtime.steps.flows import at_most, flow, goes, guarded, intent_gate, output, program, says, step

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Given, Hole
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Admission, Backoff, Check, Condition, Exists, Retry
from stagec.ir.plan.node import Edge, Fork, Go, Outcome, Stop
from stagec.languages.stages.outcomes import REASONS
from stagec.runtime.machine import Resumed
from stagec.runtime.machine.failures import SENTENCES, FailureKind, RunFailure, describe_failure, failure_to_json

FAIL = Stop(Outcome.FAILED)
UNFIT = "the input 'issue' cannot be used: " + '"seven" is not an integer'
NUMBER = '/n: "x" is not an integer'


def told(run: Run, *answers: Json) -> Run:
    """Answer the requests of a run in their order."""
    run.answers(*answers)
    return run


def passed(plan: Plan, deadline: str) -> Run:
    run = Run(plan)
    run.answer({}, deadline)
    return run


def cancelled() -> Run:
    run = Run(alone())
    run.cancel()
    return run


def ended_stage(answer: Json) -> Play:
    run = Play(scheduled({"a": process(retryable=False)}, {"a": ()}))
    run.answer("execute a", answer)
    run.answer("preserve a", {"valid": True})
    return run


def blocked_stage() -> Play:
    run = ended_stage({"exit": 1})
    run.tell(Resumed())
    return run


def never_passed() -> Run:
    """Return a run whose closure step is refused once, which its plan takes as the end."""
    run = Run(guarded("abort"))
    return told(run, says("handoff"), says("closing"), output("M a.py\n"))


def skipped_sibling() -> Run:
    skips = Admission(block=(Exists(("ctx", "busy"), present=True),), on_block="skip", on_defer="fail")
    plan = pipeline(a=stage(edges=(Edge("ok", Fork(("x", "y"), None)),)), x=stage(), y=stage(admission=skips))
    return told(Run(plan, busy=True), submit())


def unfit_join() -> Run:
    """Return a run in which a branch ends as done although its last result is a failure."""
    mended = stage(edges=(Edge("fail", Stop(Outcome.DONE)),))
    plan = pipeline(a=stage(edges=(Edge("ok", Fork(("x", "y"), "j")),)), x=stage(), y=mended, j=stage())
    return told(Run(plan), submit(), submit(), {"error": "gone"})


def second_attempt() -> Run:
    wanted = Check("retry", (Exists(("parsed", "n"), present=False),), "no n")
    return told(Run(alone(checks=(wanted,), retry=Retry(2, Backoff()))), submit(), {}, submit())


def capped(last: Json) -> Run:
    return told(Run(alone(turns=1, retry=Retry(2, Backoff()))), {"text": "hm"}, {}, last)


def gated() -> Run:
    defers = Admission(defer=(Exists(("ctx", "busy"), present=True),), on_block="fail", on_defer="retry-later")
    return told(Run(alone(admission=defers, retry=Retry(2, Backoff())), busy=True), {})


def misled() -> Run:
    return told(Run(flow(a=step(*goes(next="a")))), says("jump"))


WAYS: dict[str, tuple[Callable[[], Run | Play | Issue], FailureKind, str]] = {
    "somebody cancels it": (cancelled, FailureKind.CANCELLED, "a, attempt 1: cancelled"),
    "an input is missing": (
        lambda: Run(alone(), other=1),
        FailureKind.UNFIT_START,
        "the run cannot begin: there is no input 'other'",
    ),
    "its bound is reached": (
        lambda: told(Run(at_most(flow(a=step(*goes(next="a"))), 1)), says("next")),
        FailureKind.BOUND,
        "a#2, attempt 1: bound reached: the limit is 1",
    ),
    "a variable has no value": (
        lambda: Run(flow(a=step(*goes(next="a"), variables={"who": Given("who")}))),
        FailureKind.UNSTARTABLE,
        "a, attempt 1: cannot start: its variable who has no value",
    ),
    "a word of a program has no value": (
        lambda: Run(flow(a=replace(program(), act=replace(program().act, words=((Hole(("input", "who")),),))))),
        FailureKind.UNSTARTABLE,
        "a, attempt 1: cannot start: input.who has no value",
    ),
    "the model gives no object": (
        lambda: told(Run(flow(a=step(*goes(next="a")))), {"answer": 1}, {"answer": 2}),
        FailureKind.INVALID_ANSWER,
        "a, attempt 2: no usable answer: the answer is no object",
    ),
    "no model answers a step": (
        lambda: told(Run(flow(a=step(*goes(next="a")))), {"answer": 1}, {"error": {"code": "529", "message": "busy"}}),
        FailureKind.PROVIDER,
        "a, attempt 2: the provider failed: 529, busy",
    ),
    "no model answers a stage": (
        lambda: told(Run(alone()), {"error": "overloaded"}),
        FailureKind.PROVIDER,
        "a, attempt 1: the provider failed: overloaded",
    ),
    "an answer has no intent": (
        lambda: told(Run(flow(a=step(*goes(next="a"), gate=intent_gate(intents=("next",))))), says("go")),
        FailureKind.NO_INTENT,
        'a, attempt 1: no intent that is allowed: action is "go", and allowed are next',
    ),
    "an answer aborts": (
        lambda: told(Run(flow(a=step(*goes(next="a")))), says("abort", reason="no access")),
        FailureKind.ABORTED,
        "a, attempt 1: aborted: no access",
    ),
    "no edge takes an outcome": (
        misled,
        FailureKind.NO_EDGE,
        "a, attempt 1: leads nowhere: no edge takes the outcome jump",
    ),
    "a validator refuses the work": (
        never_passed,
        FailureKind.VALIDATION,
        "c, attempt 1: validation failed: dirty by 'check', exit 0",
    ),
    "a stage cannot be set up": (
        lambda: Run(alone(prompt=(Hole(("ctx", "task")),))),
        FailureKind.INIT,
        "a, attempt 1: init failed: Init: ctx.task has no value",
    ),
    "a gate does not open": (
        gated,
        FailureKind.GATE,
        "a, attempt 1: gate unresolved: it is deferred after 2 tries",
    ),
    "a sibling is skipped": (
        skipped_sibling,
        FailureKind.SKIPPED,
        "y, attempt 1: skipped, which is no success in a fork",
    ),
    "all turns are taken": (
        lambda: capped({"text": "hm"}),
        FailureKind.TURN_CAP,
        "a, attempt 2: turn cap reached: 1 turn",
    ),
    "the last result is not accepted": (
        lambda: capped(submit(n="x")),
        FailureKind.TURN_CAP,
        f"a, attempt 2: turn cap reached: 1 turn, and the last result was not accepted: {NUMBER}",
    ),
    "no attempt is good enough": (
        second_attempt,
        FailureKind.EXHAUSTED,
        "a, attempt 2: no attempt is left: no n",
    ),
    "a check says so": (
        lambda: told(Run(alone(checks=(Check("fail", (), "thin"),))), submit()),
        FailureKind.JUDGED,
        "a, attempt 1: judged as failed: thin",
    ),
    "a guard refuses": (
        lambda: told(Run(alone(session=hooked("SEND_REQUEST/pre guard g"))), {"value": "Leak"}),
        FailureKind.REFUSED,
        "a, attempt 1: refused: Leak at SEND_REQUEST",
    ),
    "a transform fails": (
        lambda: told(Run(alone(session=hooked("SEND_REQUEST/pre transform t"))), {"error": "no"}),
        FailureKind.HOOK,
        "a, attempt 1: a hook failed: HookTransformFailed at SEND_REQUEST",
    ),
    "the hook that judges fails": (
        lambda: told(Run(alone(hooks={"assert": "m:f"})), submit(), {"error": "no"}),
        FailureKind.HOOK,
        "a, attempt 1: a hook failed: LifecycleFailure",
    ),
    "the hook at the exit fails": (
        lambda: told(Run(alone(hooks={"exit": "m:f"})), submit(), {"error": "no"}),
        FailureKind.HOOK,
        "a, attempt 1: a hook failed: LifecycleFailure at Exit",
    ),
    "an edge leads to the end as failed": (
        lambda: told(Run(flow(a=step(Edge("next", FAIL)))), says("next")),
        FailureKind.STOPPED,
        "a, attempt 1: the plan ends the run as failed here: its outcome is next",
    ),
    "a fork has one node": (
        lambda: told(Run(pipeline(a=stage(edges=(Edge("ok", Fork(("b",), None)),)), b=stage())), submit()),
        FailureKind.SMALL_FORK,
        "a, attempt 1: leads to a fork of fewer than two nodes",
    ),
    "a join has no success to join": (
        unfit_join,
        FailureKind.UNJOINABLE,
        "j, attempt 1: cannot join what has not succeeded: the branch of y ended with fail",
    ),
    "a stage ends with another status than 0": (
        lambda: ended_stage({"exit": 2}),
        FailureKind.STAGE_FAILED,
        "a, attempt 1: the stage failed: exit 2",
    ),
    "a stage takes too long": (
        lambda: ended_stage({"interrupted": "timeout"}),
        FailureKind.STAGE_INTERRUPTED,
        "a, attempt 1: the stage was interrupted: timeout",
    ),
    "a run of phases has had its transitions": (
        lambda: phased(issue_flow(2), {"build": {}, "review": {"verdict": "rejected"}}),
        FailureKind.CYCLES,
        "build#2, attempt 1: the run has had all its transitions: the limit is 2",
    ),
    "a phase follows itself too often": (
        lambda: phased(again(), {"build": {"verdict": "again"}}),
        FailureKind.REPETITION,
        "build#3, attempt 1: too many transitions to the same phase in a row: 'build', and the limit is 2",
    ),
    "no phase follows": (
        lambda: phased(again(), {"build": {"verdict": "lost"}}),
        FailureKind.UNROUTED,
        "build, attempt 1: no phase follows: the outcome 'lost' of 'builder'",
    ),
    "an issue is blocked": (
        lambda: phased(issue_flow(), {"build": {}, "review": {}}),
        FailureKind.PHASE_BLOCKED,
        "stuck, attempt 1: the issue is blocked",
    ),
    "an agent cannot begin": (
        lambda: phased(strict(), {}),
        FailureKind.AGENT_UNFIT,
        f"build, attempt 1: the agent cannot begin: {UNFIT}",
    ),
    "an issue cannot be changed": (
        lambda: phased(issue_flow(), {"build": {}}, error="no permission"),
        FailureKind.ISSUE,
        "build, attempt 1: the issue could not be changed: no permission",
    ),
    "nothing is ready for the model": (
        lambda: told(Run(guarded(conditions=(), preflight=(Condition("clean"),))), says("handoff"), output("M a.py\n")),
        FailureKind.PREFLIGHT,
        "c, attempt 1: not ready (AGENT_VALIDATION_ABORT): dirty by 'check', exit 0",
    ),
    "a step repeats too often": (
        lambda: told(Run(flow(a=step(*goes(repeat="a"), repeats=()))), says("repeat")),
        FailureKind.CHAIN_EXHAUSTED,
        "a, attempt 1: no repeat is left (AGENT_ADAPTATION_CHAIN_EXHAUSTED): 0 repeats in a row",
    ),
    "the deadline of a stage passes": (
        lambda: passed(pipeline(a=timed(stage())), "a#1/0.0"),
        FailureKind.DEADLINE,
        "a, attempt 1: the deadline has passed: 1 min",
    ),
    "the deadline of a run passes": (
        lambda: passed(limited(pipeline(a=stage()), deadline=3_600_000), "#0/0.0"),
        FailureKind.RUN_DEADLINE,
        "a, attempt 1: the deadline of the run has passed: 1 h",
    ),
    "a stage may not run again": (
        blocked_stage,
        FailureKind.STAGE_BLOCKED,
        "a, attempt 1: nobody has consented to run it again",
    ),
}


_BLOCKS = (FailureKind.PHASE_BLOCKED, FailureKind.AGENT_UNFIT, FailureKind.ISSUE)
_ENDS = {FailureKind.STAGE_INTERRUPTED: Outcome.INTERRUPTED, **dict.fromkeys(_BLOCKS, Outcome.BLOCKED)}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_has_failed_says_where_and_why(way: str) -> None:
    begin, kind, sentence = WAYS[way]
    state = begin().step.state
    ended = _ENDS.get(kind, Outcome.FAILED)
    assert (state.ended, state.reason) == (ended, sentence)
    assert state.failure is not None
    assert (state.failure.kind, describe_failure(state.failure)) == (kind, sentence)


def test_every_kind_has_a_sentence_and_a_way_that_leads_to_it() -> None:
    assert {kind for _, kind, _ in WAYS.values()} == set(SENTENCES) == set(FailureKind)


def test_the_reasons_that_cases_may_ask_for_are_kinds_of_failures() -> None:
    assert {*REASONS} <= {*FailureKind}


def test_the_visit_is_named_when_it_is_not_the_first() -> None:
    plan = pipeline(a=stage(edges=(Edge("ok", Go("b")), Edge("fail", FAIL))), b=stage(edges=to("a")))
    run = told(Run(plan), submit(), submit(), {"error": "gone"})
    assert run.step.state.reason == "a#2, attempt 1: the provider failed: gone"


def test_what_mended_a_failure_is_not_blamed_for_it() -> None:
    plan = pipeline(a=stage(edges=(Edge("ok", FAIL), Edge("fail", Go("b")))), b=stage())
    run = told(Run(plan), {"error": "gone"}, submit())
    assert (run.end, run.step.state.failure) == ((Outcome.DONE, "completed"), None)


def test_a_long_complaint_is_cut_and_kept_whole_beside_the_sentence() -> None:
    failure = RunFailure(FailureKind.PROVIDER, "x" * 10_000, "a")
    assert len(describe_failure(failure)) < 600
    assert failure_to_json(failure) == {
        "kind": "provider-failed",
        "node": "a",
        "visit": 1,
        "attempt": 1,
        "detail": "x" * 10_000,
    }
