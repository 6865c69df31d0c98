"""CheckGate: whether a stage may act, and the policy for one that may not (§ 3.10 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.gate import Admission
from stagec.runtime.acts import concluding, phases
from stagec.runtime.acts.preparing import failed
from stagec.runtime.acts.talk import talk_of
from stagec.runtime.acts.waits import pause
from stagec.runtime.effect import Confirm, Effect
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution
from stagec.runtime.terms import all_hold

_PROCEED, _LATER = "proceed", "retry-later"
_OUTCOMES = frozenset({_PROCEED, "defer", "block"})

Admitted = Execution | Finished | None
"""An execution that may act; one that is over without having acted; None while somebody is asked."""


def ask(moment: Moment, execution: Execution) -> Admitted:
    """Ask for admission."""
    talk = talk_of(execution)
    execution = moment.keep(replace(execution, detail=replace(talk, asked=talk.asked + 1)))
    return None if phases.call(moment, execution, "gate") else _decided(moment, execution, _declared(moment, execution))


def answered(moment: Moment, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> Admitted:
    """Take what a callable or a person says."""
    if type(effect) is Confirm:
        return execution if given.get("yes") is True else _ended(moment, execution, "fail")
    said = phases.hear(execution, "gate", given)
    outcome = _declared(moment, execution) if said.value is None else said.value
    if said.failure is not None or not (isinstance(outcome, str) and outcome in _OUTCOMES):
        return failed(moment, execution, "CheckGate", "its hook has failed", said.failure or phases.FAILED)
    return _decided(moment, execution, outcome)


def _declared(moment: Moment, execution: Execution) -> str:
    """Return what the terms of the node say; `block` goes before `defer`."""
    admission, scope = _admission(moment, execution), {"ctx": talk_of(execution).context}
    if admission is None:
        return _PROCEED
    if admission.block and all_hold(admission.block, scope):
        return "block"
    return "defer" if admission.defer and all_hold(admission.defer, scope) else _PROCEED


def _admission(moment: Moment, execution: Execution) -> Admission | None:
    return moment.nodes[execution.node].admission


def _decided(moment: Moment, execution: Execution, outcome: str) -> Admitted:
    policy = None if outcome == _PROCEED else _policy(_admission(moment, execution), outcome)
    moment.tell("StageCheckGateResult", execution, outcome=outcome, policy=policy)
    tries = talk_of(execution).asked
    match policy:
        case None:
            return execution
        case "ask":
            question = f"{execution.node} is {_HELD[outcome]}; shall it run all the same?"
            moment.request(execution, Confirm, question=question)
            return None
        case "retry-later" if tries < _attempts(moment, execution):
            pause(moment, execution, tries)
            return None
        case _:
            return _ended(moment, execution, "skip" if policy == "skip" else "fail")


_HELD = {"defer": "deferred", "block": "blocked"}
"""What a node is called by people that does not proceed."""


def _policy(admission: Admission | None, outcome: str) -> str:
    if admission is None:
        return "fail"
    return admission.on_block if outcome == "block" else admission.on_defer


def _ended(moment: Moment, execution: Execution, verdict: str) -> Finished | None:
    """Let a stage exit that has not acted."""
    reason = "skipped" if verdict == "skip" else "gate-unresolved"
    result: dict[str, Json] = {"verdict": verdict, "reason": reason, "capHit": False, "attemptCount": 0}
    return concluding.leave(moment, execution, result)


def _attempts(moment: Moment, execution: Execution) -> int:
    retry = moment.nodes[execution.node].retry
    return retry.attempts if retry is not None else 1
