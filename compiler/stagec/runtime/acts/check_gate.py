"""CheckGate: whether a stage may act, and the policy for one that may not (§ 3.10 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.gate import Admission
from stagec.runtime.acts import conclusion, hooks
from stagec.runtime.acts.conclusion import pause
from stagec.runtime.acts.conversation_state import conversation_of
from stagec.runtime.acts.setup import fail_setup
from stagec.runtime.exchange import Confirm, Effect
from stagec.runtime.execution import Execution, NodeResult
from stagec.runtime.failures import FailureKind, RunFailure
from stagec.runtime.json_values import all_hold
from stagec.runtime.step_builder import StepBuilder

_PROCEED, _LATER = "proceed", "retry-later"
_OUTCOMES = frozenset({_PROCEED, "defer", "block"})

Admitted = Execution | NodeResult | None
"""An execution that may act; one that is over without having acted; None while somebody is asked."""


def ask(builder: StepBuilder, execution: Execution) -> Admitted:
    """Ask for admission."""
    conversation = conversation_of(execution)
    execution = builder.keep(replace(execution, progress=replace(conversation, asked=conversation.asked + 1)))
    return (
        None
        if hooks.call_hook(builder, execution, "gate")
        else _apply_policy(builder, execution, _evaluate_terms(builder, execution))
    )


def resume(builder: StepBuilder, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> Admitted:
    """Take what a callable or a person says."""
    if type(effect) is Confirm:
        return execution if given.get("yes") is True else _give_up(builder, execution, "a person did not let it act")
    said = hooks.read_reply(execution, "gate", given)
    outcome = _evaluate_terms(builder, execution) if said.value is None else said.value
    if said.failure is not None or not (isinstance(outcome, str) and outcome in _OUTCOMES):
        return fail_setup(builder, execution, "CheckGate", "its hook has failed", said.failure or hooks.FAILED)
    return _apply_policy(builder, execution, outcome)


def _evaluate_terms(builder: StepBuilder, execution: Execution) -> str:
    """Return what the terms of the node say; `block` goes before `defer`."""
    admission, scope = _admission(builder, execution), {"ctx": conversation_of(execution).context}
    if admission is None:
        return _PROCEED
    if admission.block and all_hold(admission.block, scope):
        return "block"
    return "defer" if admission.defer and all_hold(admission.defer, scope) else _PROCEED


def _admission(builder: StepBuilder, execution: Execution) -> Admission | None:
    return builder.nodes[execution.node].admission


def _apply_policy(builder: StepBuilder, execution: Execution, outcome: str) -> Admitted:
    if outcome == _PROCEED:
        policy = None
    else:
        admission = _admission(builder, execution)
        policy = "fail" if admission is None else admission.on_block if outcome == "block" else admission.on_defer
    builder.emit("StageCheckGateResult", execution, outcome=outcome, policy=policy)
    tries = conversation_of(execution).asked
    retry = builder.nodes[execution.node].retry
    attempts = retry.attempts if retry is not None else 1
    match policy:
        case None:
            return execution
        case "ask":
            question = f"{execution.node} is {_HELD[outcome]}; shall it run all the same?"
            builder.request(execution, Confirm, question=question)
            return None
        case "skip":
            return conclusion.leave(builder, execution, _describe_stay("skip", "skipped"))
        case "retry-later" if tries < attempts:
            pause(builder, execution, tries)
            return None
        case _:
            after = f" after {tries} tries" if tries > 1 else ""
            return _give_up(builder, execution, f"it is {_HELD[outcome]}{after}")


_HELD = {"defer": "deferred", "block": "blocked"}
"""What a node is called by people that does not proceed."""


def _give_up(builder: StepBuilder, execution: Execution, why: str) -> NodeResult | None:
    """Let a stage exit that may not act."""
    failure = RunFailure(FailureKind.GATE, why)
    return conclusion.leave(builder, execution, _describe_stay("fail", "gate-unresolved"), failure)


def _describe_stay(verdict: str, reason: str) -> Mapping[str, Json]:
    """Return the result of a stage that has not acted."""
    return {"verdict": verdict, "reason": reason, "capHit": False, "attemptCount": 0}
