"""Assert and Exit: judge an attempt, try again, and hand in the result of a stage (§§ 3.6 and 3.7 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of, text_in
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count
from stagec.ir.plan.gate import Backoff, Check, VerdictGate
from stagec.runtime.machine import gate as gates
from stagec.runtime.machine.acts import hooks
from stagec.runtime.machine.acts.conversation_state import conversation_of, digest_of, messages_to_json, update
from stagec.runtime.machine.exchange import Effect, Hook, Message, Wait
from stagec.runtime.machine.execution import Conversation, Execution, NodeResult
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.step_builder import StepBuilder, code_of


@value
class Conclusion:
    """An attempt that is over: `attempt` is what came of it.

    `refused` is the code with which a hook or the provider has ended it, and `failure` says how; then nobody judges it.
    """

    execution: Execution
    attempt: Mapping[str, Json] = NOTHING
    refused: str | None = None
    failure: RunFailure | None = None


_MOST = 24 * 60 * 60 * 1000
"""Milliseconds; doubling ends here."""


def pause(builder: StepBuilder, execution: Execution, tries: int) -> None:
    """Ask for the wait after so many tries; one of no length as well, so that there is one way on."""
    retry = builder.nodes[execution.node].retry
    builder.request(execution, Wait, milliseconds=0 if retry is None else wait_length(retry.backoff, tries))


def wait_length(backoff: Backoff, tries: int) -> int:
    """Return the milliseconds to wait after so many tries."""
    if backoff.kind == "exponential":
        return min(_MOST, backoff.milliseconds << min(tries - 1, 40))
    return min(_MOST, backoff.milliseconds) if backoff.kind == "fixed" else 0


_VERDICTS = frozenset({"ok", "retry", "fail"})


def conclude(builder: StepBuilder, over: Conclusion) -> NodeResult | None:
    """Conclude an attempt that is over: judge it, by a callable if there is one, unless it was refused."""
    # an execution that remembers an attempt as one that is over
    conversation = conversation_of(over.execution)
    record: dict[str, Json] = {"turns": conversation.turns, "capHit": over.attempt.get("capHit") is True}
    if conversation.error is not None:
        record["parseError"] = conversation.error
    conversation = replace(conversation, attempts=(*conversation.attempts, record), error=None, result=over.attempt)
    execution = replace(over.execution, progress=conversation)
    if over.refused is not None:
        refused: dict[str, Json] = {"verdict": "fail", "reason": over.refused, "capHit": False}
        return leave(builder, execution, {**refused, "attemptCount": execution.attempt}, over.failure)
    execution = builder.keep(execution)
    if hooks.call_hook(builder, execution, "assert", **_describe_act(execution), **over.attempt):
        return None
    return _apply_verdict(builder, execution, _evaluate_checks(builder, execution))


def resume(builder: StepBuilder, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> NodeResult | None:
    """Take the answers of the callables for judging and for handing in."""
    if isinstance(effect, Hook) and effect.phase == "assert":
        return _apply_verdict(builder, execution, *_read_verdict(builder, execution, given))
    said, result = hooks.read_reply(execution, "exit", given), dict(conversation_of(execution).result)
    if said.failure is not None:
        result |= {"verdict": "fail", "reason": code_of(said.failure)}
        execution = update(execution, failure=RunFailure(FailureKind.HOOK, f"{code_of(said.failure)} at Exit"))
    elif said.value is not None:
        result["output"] = said.value
    return _finish(builder, execution, result)


def leave(
    builder: StepBuilder, execution: Execution, result: Mapping[str, Json], failure: RunFailure | None = None
) -> NodeResult | None:
    """Let a stage exit with a result, and with why it has failed if it has."""
    execution = builder.keep(update(execution, result=result, failure=failure))
    if hooks.call_hook(builder, execution, "exit", result=result, **_describe_act(execution)):
        return None
    return _finish(builder, execution, result)


def exceed_deadline(builder: StepBuilder, execution: Execution, length: str) -> NodeResult:
    """Let a stage exit at once whose time is over."""
    failure = RunFailure(FailureKind.DEADLINE, length)
    known = execution.progress if isinstance(execution.progress, Conversation) else Conversation()
    execution = builder.keep(replace(execution, progress=replace(known, failure=failure)))
    result = {"verdict": "fail", "reason": failure.kind.value, "capHit": False, "attemptCount": execution.attempt}
    return _finish(builder, execution, result)


def _describe_act(execution: Execution) -> Mapping[str, Json]:
    """Return the arguments of callables that look back at an act."""
    conversation = conversation_of(execution)
    return {"transcript": messages_to_json(conversation.transcript), "attempts": list(conversation.attempts)}


def _evaluate_checks(builder: StepBuilder, execution: Execution) -> Check:
    gate = builder.nodes[execution.node].gate
    given = {"verdict": "ok", "reason": "", "attemptCount": execution.attempt, **conversation_of(execution).result}
    return gates.judge_result(gate, given) if type(gate) is VerdictGate else Check("ok")


def _read_verdict(builder: StepBuilder, execution: Execution, given: Mapping[str, Json]) -> tuple[Check, FailureKind]:
    """Return the judgement of a callable, a verdict and perhaps a reason, and how a node fails of which it is `fail`.

    Null leaves it to the declared checks.
    """
    said = hooks.read_reply(execution, "assert", given)
    if said.failure is None and said.value is None:
        return _evaluate_checks(builder, execution), FailureKind.JUDGED
    told = object_of(said.value) or {"verdict": said.value}
    verdict = told.get("verdict")
    if said.failure is None and isinstance(verdict, str) and verdict in _VERDICTS:
        return Check(verdict, reason=text_in(told, "reason")), FailureKind.JUDGED
    return Check("fail", reason=code_of(said.failure or hooks.FAILED)), FailureKind.HOOK


def _apply_verdict(
    builder: StepBuilder, execution: Execution, check: Check, kind: FailureKind = FailureKind.JUDGED
) -> NodeResult | None:
    retry, conversation = builder.nodes[execution.node].retry, conversation_of(execution)
    parsed = digest_of(conversation.result["parsed"]) if "parsed" in conversation.result else None
    facts: dict[str, Json] = {
        "capHit": conversation.result.get("capHit"),
        "parsedDigest": parsed,
        "reason": check.reason or "",
    }
    builder.emit("StageAssertOutcome", execution, verdict=check.verdict, **facts)
    if check.verdict != "retry":
        failure = RunFailure(kind, check.reason or "") if check.verdict == "fail" else None
        return leave(builder, execution, _result(execution, check.verdict, check.reason or ""), failure)
    if execution.attempt >= (retry.attempts if retry is not None else 1):
        result = _result(execution, "fail", "retry-exhausted")
        last = conversation.attempts[-1]  # what ended it says why no attempt was good enough
        failure = RunFailure(FailureKind.EXHAUSTED, check.reason or "")
        if last["capHit"]:
            complaint = f", and the last result was not accepted: {last['parseError']}" if "parseError" in last else ""
            complaint = complaint if conversation.finish is None else f"{complaint}; {conversation.finish}"
            turns = format_count(int(str(last["turns"])), "turn")
            failure = RunFailure(FailureKind.TURN_CAP, f"{turns}{complaint}")
        return leave(builder, execution, result, failure)
    reason = Message("user", check.reason or "Try again.")
    conversation = replace(conversation, transcript=(*conversation.transcript, reason))
    pause(builder, replace(execution, progress=conversation), execution.attempt)
    return None


def _result(execution: Execution, verdict: str, reason: str) -> Mapping[str, Json]:
    return {
        "verdict": verdict,
        "reason": reason,
        **conversation_of(execution).result,
        "attemptCount": execution.attempt,
    }


def _finish(builder: StepBuilder, execution: Execution, result: Mapping[str, Json]) -> NodeResult:
    verdict = result["verdict"]
    builder.emit(
        "StageExited", execution, verdict=verdict, attemptCount=result["attemptCount"], capHit=result["capHit"]
    )
    failure = conversation_of(execution).failure
    return NodeResult(execution, "fail" if verdict == "fail" else "ok", result, failure=failure)
