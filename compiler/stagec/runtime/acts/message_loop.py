"""Act: the turns of a model in the message loop, the completion channel, the batch rule, and steering (§ 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.runtime.acts import hooks, tool_calls
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.conversation_state import (
    calls_to_json,
    conversation_of,
    explain_call,
    messages_to_json,
    read_calls,
    read_messages,
    update,
)
from stagec.runtime.acts.hooks import HookResult
from stagec.runtime.exchange import WITH_KEPT_NAMES, Effect, Hook, Message, Request, Turn
from stagec.runtime.execution import Execution
from stagec.runtime.failures import FailureKind, RunFailure, describe_error
from stagec.runtime.readable_answers import explain_finish, name_finish
from stagec.runtime.session_turns import session_turn_of
from stagec.runtime.step_builder import StepBuilder

_FAILED = "HookTransformFailed"

LoopResult = Conclusion | None
"""An attempt that is over; None while anything is waited for."""


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """RECEIVE_INPUT: the prompt is the input, and begins the transcript."""
    _emit_pre(builder, execution, "RECEIVE_INPUT")
    return _enter(builder, act, execution, "RECEIVE_INPUT/pre", conversation_of(execution).transcript[0].text)


def retry(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """Begin another attempt on the same transcript."""
    conversation = replace(conversation_of(execution), turns=0, result={})
    return _loop(builder, act, replace(execution, attempt=execution.attempt + 1, asked=0, progress=conversation))


def resume(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> LoopResult:
    """Take a response of the model, what hooks and people say, or what became of a call."""
    if isinstance(effect, Turn):
        # `SEND_REQUEST` is over and `STREAM_RESPONSE` begins; a provider that fails ends the attempt
        conversation = conversation_of(execution)
        if "error" in given:
            builder.emit("ProviderRequestFailed", execution, turn=conversation.turns, error=given["error"])
            _emit_post(builder, execution, "SEND_REQUEST", "failed")
            failure = RunFailure(FailureKind.PROVIDER, describe_error(given["error"]))
            return Conclusion(execution, refused="provider-failed", failure=failure)
        calls = read_calls(given.get("calls"), f"{conversation.turns}.")
        said = Message("assistant", text_in(given, "text") or "", calls)
        transcript = (*conversation.transcript, said)
        conversation = replace(conversation, transcript=transcript, calls=calls, finish=explain_finish(given))
        execution = replace(execution, progress=conversation)
        if builder.now.machine < WITH_KEPT_NAMES:
            _emit_arrival(builder, execution)
        response: Mapping[str, Json] = {"text": said.text, "calls": calls_to_json(calls)}
        return _enter(builder, act, execution, "SEND_REQUEST/post", response)
    if isinstance(effect, Hook):
        return _continue(builder, act, hooks.resume(builder, execution, effect, given))
    return _after_calls(builder, act, tool_calls.resume(builder, act, execution, effect, given))


def _enter(builder: StepBuilder, act: Converse, execution: Execution, slot: str, subject: Json) -> LoopResult:
    return _continue(builder, act, hooks.enter(builder, execution, slot, subject))


def _continue(builder: StepBuilder, act: Converse, hooked: HookResult | None) -> LoopResult:
    """Continue with what has come through a slot."""
    if hooked is None:
        return None
    stage = hooked.slot.partition("/")[0]
    if stage == "TOOL_CALL":
        return _after_calls(builder, act, tool_calls.continue_call(builder, act, hooked))
    if hooked.refused is not None:
        return _stop(builder, hooked.execution, stage, hooked.refused, "failed" if hooked.failed else "denied")
    return _AFTER[hooked.slot](builder, act, hooked)


def _stop(builder: StepBuilder, execution: Execution, stage: str, code: str, outcome: str) -> Conclusion:
    _emit_post(builder, execution, stage, outcome)
    kind = FailureKind.REFUSED if outcome == "denied" else FailureKind.HOOK
    return Conclusion(execution, refused=code, failure=RunFailure(kind, f"{code} at {stage}"))


def _emit_pre(builder: StepBuilder, execution: Execution, stage: str) -> None:
    builder.emit("StagePreFired", execution, stage=stage, **_ids(builder, execution))


def _emit_post(builder: StepBuilder, execution: Execution, stage: str, outcome: str = "ok", **facts: Json) -> None:
    builder.emit("StagePostFired", execution, stage=stage, **_ids(builder, execution), outcome=outcome, **facts)


def _emit_arrival(builder: StepBuilder, execution: Execution) -> None:
    """Tell that the last response arrives, and that it is complete."""
    conversation = conversation_of(execution)
    if conversation.transcript[-1].text:
        builder.emit("ProviderTokensStreamed", execution, turn=conversation.turns)
    finish = name_finish(conversation.finish)
    about: Mapping[str, Json] = {} if finish is None else {"finish": finish}
    builder.emit("ProviderRequestCompleted", execution, turn=conversation.turns, **about)


def _ids(builder: StepBuilder, execution: Execution) -> dict[str, Json]:
    return {
        "turnId": session_turn_of(builder.now.scopes, execution),
        "correlationId": f"{execution.key}/{execution.attempt}",
    }


def _receive(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Put what hooks leave of the input at the head of the transcript."""
    text = hooked.subject
    if not isinstance(text, str):
        return _stop(builder, hooked.execution, "RECEIVE_INPUT", _FAILED, "failed")
    execution = hooked.execution
    if hooked.changed:
        execution = _rewrite(execution, (Message("system", text),))
    if hooked.slot == "RECEIVE_INPUT/pre":
        return _enter(builder, act, execution, "RECEIVE_INPUT/post", text)
    _emit_post(builder, execution, "RECEIVE_INPUT")
    return _loop(builder, act, execution)


def _loop(builder: StepBuilder, act: Converse, execution: Execution) -> LoopResult:
    """COMPOSE_REQUEST, unless the cap is hit."""
    conversation = conversation_of(execution)
    if conversation.turns >= act.turns:
        return Conclusion(execution, {"capHit": True})
    conversation = replace(conversation, request=None, calls=(), decided=(), running=(), outcomes=(), finished=0)
    execution = replace(execution, progress=conversation)
    _emit_pre(builder, execution, "COMPOSE_REQUEST")
    return _compose(builder, act, execution, "COMPOSE_REQUEST/pre")


def _compose(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> LoopResult:
    """Show a request to the hooks of a slot, if there are any."""
    conversation = conversation_of(execution)
    request: Json = None
    if hooks.is_attached(builder, slot):
        request = conversation.request or {
            "transcript": messages_to_json(conversation.transcript),
            "tools": list(dict.fromkeys(act.tools)),
        }
    return _enter(builder, act, execution, slot, request)


def _after_compose(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Keep what hooks make of a request: what is sent, and not what is remembered."""
    execution, stage = hooked.execution, hooked.slot.partition("/")[0]
    if hooked.changed:
        tools = object_of(hooked.subject).get("tools")
        named = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
        if not (named and read_messages(object_of(hooked.subject).get("transcript")) is not None):
            return _stop(builder, execution, stage, _FAILED, "failed")
        conversation = replace(conversation_of(execution), request=object_of(hooked.subject))
        execution = replace(execution, progress=conversation)
    if hooked.slot == "COMPOSE_REQUEST/pre":
        return _compose(builder, act, execution, "COMPOSE_REQUEST/post")
    if stage == "COMPOSE_REQUEST":
        _emit_post(builder, execution, stage)
        _emit_pre(builder, execution, "SEND_REQUEST")
        return _compose(builder, act, execution, "SEND_REQUEST/pre")
    _send(builder, act, execution)
    return None


def _send(builder: StepBuilder, act: Converse, execution: Execution) -> None:
    """Let the model take a turn."""
    conversation = conversation_of(execution)
    transcript, tools = conversation.transcript, tuple(dict.fromkeys(act.tools))
    if conversation.request is not None:
        transcript = read_messages(conversation.request["transcript"]) or transcript
        tools = tuple(dict.fromkeys(map(str, list_of(conversation.request["tools"]))))
    execution = replace(execution, progress=replace(conversation, turns=conversation.turns + 1, request=None))
    builder.emit("ProviderRequestStarted", execution, turn=conversation.turns + 1)
    given = {"transcript": transcript, "tools": tools, "completion": act.completion, "schema": act.schema}
    builder.request(execution, Turn, **given)


def _after_send(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    execution = hooked.execution
    _emit_post(builder, execution, "SEND_REQUEST")
    _emit_pre(builder, execution, "STREAM_RESPONSE")
    if builder.now.machine >= WITH_KEPT_NAMES:
        _emit_arrival(builder, execution)
    return _stream(builder, act, execution, "STREAM_RESPONSE/pre")


def _stream(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> LoopResult:
    """Show a response to the hooks of a slot; one that arrives whole is one token."""
    said = conversation_of(execution).transcript[-1]
    about: Mapping[str, Json] = {"calls": calls_to_json(said.calls)} if hooks.is_attached(builder, slot) else {}
    return _continue(builder, act, hooks.enter(builder, execution, slot, said.text, about))


def _after_stream(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    execution, text = hooked.execution, hooked.subject
    if not isinstance(text, str):
        return _stop(builder, execution, "STREAM_RESPONSE", _FAILED, "failed")
    if hooked.slot == "STREAM_RESPONSE/pre":
        if hooked.changed:
            *before, said = conversation_of(execution).transcript
            execution = _rewrite(execution, (*before, replace(said, text=text)))
        return _stream(builder, act, execution, "STREAM_RESPONSE/post")
    _emit_post(builder, execution, "STREAM_RESPONSE")
    # go on as the calls of a response ask for
    calls = conversation_of(execution).calls
    completions = sum(each.tool == act.completion for each in calls)
    if not calls:
        why = conversation_of(execution).finish
        told = f"Call {act.completion} when you are done."
        told = told if why is None else f"Not accepted: {why}. {told}"
        return _loop(builder, act, _append(execution, Message("user", told)))
    if completions and len(calls) > 1:
        why = f"Not carried out: {act.completion} must be the only call of a turn."
        return _loop(builder, act, _append(execution, *(Message("tool", why, call=each.id) for each in calls)))
    if completions:
        return _complete(builder, act, execution, calls[0])
    _emit_pre(builder, execution, "TOOL_CALL")
    return _after_calls(builder, act, tool_calls.begin(builder, act, execution))


def _complete(builder: StepBuilder, act: Converse, execution: Execution, call: Request) -> LoopResult:
    complaint: str | None = "the argument is no object" if call.unreadable is None else explain_call(call)
    if isinstance(call.arguments, dict):
        complaint = builder.judge(act.schema, call.arguments)
    if complaint is not None:
        execution = _append(execution, Message("tool", f"Not accepted: {complaint}", call=call.id))
        return _loop(builder, act, update(execution, error=complaint))
    text = conversation_of(execution).transcript[-1].text
    execution = _append(execution, Message("tool", "Accepted.", call=call.id))
    result: Mapping[str, Json] = {"parsed": call.arguments, "capHit": False}
    execution = update(execution, result=result)
    _emit_pre(builder, execution, "RENDER")
    return _enter(builder, act, execution, "RENDER/pre", {"text": text, "parsed": call.arguments})


def _after_render(builder: StepBuilder, act: Converse, hooked: HookResult) -> LoopResult:
    """Hand what hooks leave of the payload to whoever watches, and end the attempt."""
    execution, payload = hooked.execution, hooked.subject
    if hooked.slot == "RENDER/pre":
        return _enter(builder, act, execution, "RENDER/post", payload)
    _emit_post(builder, execution, "RENDER", payload=payload)
    return Conclusion(execution, conversation_of(execution).result)


def _after_calls(builder: StepBuilder, act: Converse, execution: Execution | None) -> LoopResult:
    """Take another turn once all calls are answered."""
    if execution is None:
        return None
    _emit_post(builder, execution, "TOOL_CALL")
    return _loop(builder, act, execution)


def _append(execution: Execution, *messages: Message) -> Execution:
    return _rewrite(execution, (*conversation_of(execution).transcript, *messages))


def _rewrite(execution: Execution, transcript: tuple[Message, ...]) -> Execution:
    return update(execution, transcript=transcript)


_AFTER: Mapping[str, Callable[[StepBuilder, Converse, HookResult], LoopResult]] = {
    "RECEIVE_INPUT/pre": _receive,
    "RECEIVE_INPUT/post": _receive,
    "COMPOSE_REQUEST/pre": _after_compose,
    "COMPOSE_REQUEST/post": _after_compose,
    "SEND_REQUEST/pre": _after_compose,
    "SEND_REQUEST/post": _after_send,
    "STREAM_RESPONSE/pre": _after_stream,
    "STREAM_RESPONSE/post": _after_stream,
    "RENDER/pre": _after_render,
    "RENDER/post": _after_render,
}
"""What follows once something has come through a slot."""
