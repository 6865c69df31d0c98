"""CheckGate: whether a stage may act, by its terms or by a callable, and the policy for one that may not."""

from __future__ import annotations

import pytest
from runtime.stages.talks import Run, admission, alone, pipeline, stage, to

from stagec.core.json import Json
from stagec.ir.plan.gate import Among, Backoff, Exists, Retry
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.exchange import Confirm, Turn, Wait

BUSY = (Among(("ctx", "busy"), (True,)),)
LATER = Retry(3, Backoff("fixed", 50))
HOOK = {"gate": "m:f"}


def test_a_stage_whose_terms_do_not_hold_acts() -> None:
    run = Run(alone(admission=admission(defer=BUSY, block=BUSY)), busy=False)
    assert isinstance(run.next, Turn)
    assert run.facts("StageCheckGateResult", "outcome", "policy") == [["proceed", None]]


@pytest.mark.parametrize(
    ("terms", "outcome", "policy"),
    [
        ({"defer": BUSY}, "defer", "ask"),
        ({"block": BUSY}, "block", "fail"),
        ({"defer": BUSY, "block": BUSY}, "block", "fail"),
        ({"defer": (*BUSY, Exists(("ctx", "task"), present=True))}, "proceed", None),
    ],
)
def test_a_stage_is_blocked_or_deferred_when_all_its_terms_hold(
    terms: dict[str, object], outcome: str, policy: str | None
) -> None:
    run = Run(alone(admission=admission("ask", "fail", **terms)), busy=True)
    assert run.facts("StageCheckGateResult", "outcome", "policy") == [[outcome, policy]]


class TestThePolicy:
    def test_fail_ends_the_stage_as_failed(self) -> None:
        run = Run(alone(admission=admission("fail", defer=BUSY), hooks={"exit": "m:f"}), busy=True)
        result = {"verdict": "fail", "reason": "gate-unresolved", "capHit": False, "attemptCount": 0}
        assert run.given["result"] == result

    def test_skip_goes_on_without_the_stage(self) -> None:
        first = stage(admission=admission("skip", defer=BUSY), edges=to("b"))
        run = Run(pipeline(a=first, b=stage(hooks={"setup": "m:f"})), busy=True)
        result = {"verdict": "skip", "reason": "skipped", "capHit": False, "attemptCount": 0}
        assert run.given["ctx"]["upstream"] == [result]
        assert run.facts("StageExited", "verdict", "attemptCount", "capHit") == [["skip", 0, False]]

    def test_retry_later_asks_again_after_a_wait_as_often_as_the_stage_may_be_tried(self) -> None:
        run = Run(alone(admission=admission("retry-later", defer=BUSY), retry=LATER), busy=True)
        assert run.step.effects == (Wait("r/a#1/1.0", 50),)
        assert run.answer({}).effects == (Wait("r/a#1/1.1", 50),)
        run.answer({})
        assert run.facts("StageCheckGateResult", "policy") == ["retry-later"] * 3
        assert run.end == (Outcome.FAILED, "a: gate-unresolved")

    def test_retry_later_lets_the_stage_act_once_it_may(self) -> None:
        run = Run(alone(admission=admission("retry-later", "fail"), retry=LATER, hooks=HOOK))
        run.answers({"value": "defer"}, {}, {"value": "proceed"})
        assert (run.turn.key, run.facts("StageCheckGateResult", "outcome")) == ("r/a#1/1.3", ["defer", "proceed"])

    def test_retry_later_without_another_try_fails_at_once(self) -> None:
        run = Run(alone(admission=admission("retry-later", defer=BUSY)), busy=True)
        assert run.end == (Outcome.FAILED, "a: gate-unresolved")

    def test_ask_leaves_it_to_a_person(self) -> None:
        run = Run(alone(admission=admission("ask", defer=BUSY)), busy=True)
        assert run.step.effects == (Confirm("r/a#1/1.0", "a is deferred; shall it run all the same?"),)
        run.answer({"yes": True})
        assert isinstance(run.next, Turn)

    @pytest.mark.parametrize("answer", [{"yes": False}, {}, None, {"yes": "true"}])
    def test_ask_fails_when_nobody_says_yes(self, answer: Json) -> None:
        run = Run(alone(admission=admission("ask", defer=BUSY)), busy=True)
        run.answer(answer)
        assert run.end == (Outcome.FAILED, "a: gate-unresolved")

    def test_of_a_plan_of_another_hand_that_nobody_knows_is_to_fail(self) -> None:
        run = Run(alone(admission=admission("someday", defer=BUSY)), busy=True)
        assert run.end == (Outcome.FAILED, "a: gate-unresolved")


class TestACallable:
    @pytest.mark.parametrize(("said", "policy"), [("proceed", None), ("defer", "ask"), ("block", "fail")])
    def test_may_decide(self, said: str, policy: str | None) -> None:
        run = Run(alone(admission=admission("ask", "fail"), hooks=HOOK))
        run.answer({"value": said})
        assert run.facts("StageCheckGateResult", "outcome", "policy") == [[said, policy]]

    def test_may_leave_it_to_the_terms(self) -> None:
        run = Run(alone(admission=admission("ask", defer=BUSY), hooks=HOOK), busy=True)
        run.answer({"value": None})
        assert isinstance(run.next, Confirm)

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            ({}, "LifecycleFailure"),
            ({"error": "raised"}, "LifecycleFailure"),
            ({"value": "retry"}, "LifecycleFailure"),
            ({"value": ["defer"]}, "LifecycleFailure"),
            ({"value": "proceed", "ctx": {"illegal": True}}, "ContextMutationForbidden"),
        ],
    )
    def test_that_fails_does_not_let_the_stage_act(self, answer: Json, code: str) -> None:
        run = Run(alone(admission=admission(), hooks=HOOK))
        run.answer(answer)
        assert run.end == (Outcome.FAILED, "a: init-failed")
        (error,) = run.facts("StageInitFailed", "error")
        assert (error["code"], error["phase"]) == (code, "CheckGate")
