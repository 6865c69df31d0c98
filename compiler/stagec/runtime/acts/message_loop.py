"""Act: the turns of a model in the message loop, the completion channel, the batch rule, and steering (§ 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.runtime.acts import hooks, tool_calls
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.conversation import conversation_of, plain, plain_calls, read_calls, read_messages, update
from stagec.runtime.acts.hooks import HookResult
from stagec.runtime.exchange import Effect, Hook, Message, Request, Turn
from stagec.runtime.execution import Execution
from stagec.runtime.session_turns import session_turn
from stagec.runtime.step_builder import StepBuilder

_FAILED = "HookTransformFailed"

Acted = Conclusion | None
"""An attempt that is over; None while anything is waited for."""


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> Acted:
    """RECEIVE_INPUT: the prompt is the input, and begins the transcript."""
    _fired(builder, execution, "RECEIVE_INPUT")
    return _enter(builder, act, execution, "RECEIVE_INPUT/pre", conversation_of(execution).transcript[0].text)


def again(builder: StepBuilder, act: Converse, execution: Execution) -> Acted:
    """Begin another attempt on the same transcript."""
    conversation = replace(conversation_of(execution), turns=0, result={})
    return _loop(builder, act, replace(execution, attempt=execution.attempt + 1, asked=0, progress=conversation))


def answered(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> Acted:
    """Take a response of the model, what hooks and people say, or what became of a call."""
    if isinstance(effect, Turn):
        return _responded(builder, act, execution, given)
    if isinstance(effect, Hook):
        return _passed(builder, act, hooks.answered(builder, execution, effect, given))
    return _called(builder, act, tool_calls.answered(builder, act, execution, effect, given))


def _enter(builder: StepBuilder, act: Converse, execution: Execution, slot: str, subject: Json) -> Acted:
    return _passed(builder, act, hooks.enter(builder, execution, slot, subject))


def _passed(builder: StepBuilder, act: Converse, hooked: HookResult | None) -> Acted:
    """Go on with what has come through a slot."""
    if hooked is None:
        return None
    stage = hooked.slot.partition("/")[0]
    if stage == "TOOL_CALL":
        return _called(builder, act, tool_calls.passed(builder, act, hooked))
    if hooked.refused is not None:
        return _stopped(builder, hooked.execution, stage, hooked.refused, "failed" if hooked.failed else "denied")
    return _AFTER[hooked.slot](builder, act, hooked)


def _stopped(builder: StepBuilder, execution: Execution, stage: str, code: str, outcome: str) -> Conclusion:
    _left(builder, execution, stage, outcome)
    return Conclusion(execution, refused=code)


def _fired(builder: StepBuilder, execution: Execution, stage: str) -> None:
    builder.emit("StagePreFired", execution, stage=stage, **_ids(builder, execution))


def _left(builder: StepBuilder, execution: Execution, stage: str, outcome: str = "ok", **facts: Json) -> None:
    builder.emit("StagePostFired", execution, stage=stage, **_ids(builder, execution), outcome=outcome, **facts)


def _ids(builder: StepBuilder, execution: Execution) -> dict[str, Json]:
    return {
        "turnId": session_turn(builder.now.scopes, execution),
        "correlationId": f"{execution.key}/{execution.attempt}",
    }


def _received(builder: StepBuilder, act: Converse, hooked: HookResult) -> Acted:
    """Put what hooks leave of the input at the head of the transcript."""
    text = hooked.subject
    if not isinstance(text, str):
        return _stopped(builder, hooked.execution, "RECEIVE_INPUT", _FAILED, "failed")
    execution = _rewritten(hooked.execution, (Message("system", text),))
    if hooked.slot == "RECEIVE_INPUT/pre":
        return _enter(builder, act, execution, "RECEIVE_INPUT/post", text)
    _left(builder, execution, "RECEIVE_INPUT")
    return _loop(builder, act, execution)


def _loop(builder: StepBuilder, act: Converse, execution: Execution) -> Acted:
    """COMPOSE_REQUEST, unless the cap is hit."""
    conversation = conversation_of(execution)
    if conversation.turns >= act.turns:
        return Conclusion(execution, {"capHit": True})
    conversation = replace(conversation, request=None, calls=(), decided=(), running=(), outcomes=(), finished=0)
    execution = replace(execution, progress=conversation)
    _fired(builder, execution, "COMPOSE_REQUEST")
    return _compose(builder, act, execution, "COMPOSE_REQUEST/pre")


def _compose(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> Acted:
    """Show a request to the hooks of a slot, if there are any."""
    conversation = conversation_of(execution)
    request: Json = None
    if hooks.is_attached(builder, slot):
        request = conversation.request or {
            "transcript": plain(conversation.transcript),
            "tools": list(dict.fromkeys(act.tools)),
        }
    return _enter(builder, act, execution, slot, request)


def _composed(builder: StepBuilder, act: Converse, hooked: HookResult) -> Acted:
    """Keep what hooks make of a request: what is sent, and not what is remembered."""
    execution, stage = hooked.execution, hooked.slot.partition("/")[0]
    if hooked.changed:
        if not _is_request(hooked.subject):
            return _stopped(builder, execution, stage, _FAILED, "failed")
        conversation = replace(conversation_of(execution), request=object_of(hooked.subject))
        execution = replace(execution, progress=conversation)
    if hooked.slot == "COMPOSE_REQUEST/pre":
        return _compose(builder, act, execution, "COMPOSE_REQUEST/post")
    if stage == "COMPOSE_REQUEST":
        _left(builder, execution, stage)
        _fired(builder, execution, "SEND_REQUEST")
        return _compose(builder, act, execution, "SEND_REQUEST/pre")
    _send(builder, act, execution)
    return None


def _is_request(given: Json) -> bool:
    tools = object_of(given).get("tools")
    named = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
    return named and read_messages(object_of(given).get("transcript")) is not None


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


def _responded(builder: StepBuilder, act: Converse, execution: Execution, given: Mapping[str, Json]) -> Acted:
    """SEND_REQUEST is over and STREAM_RESPONSE begins; a provider that fails ends the attempt."""
    conversation = conversation_of(execution)
    if "error" in given:
        builder.emit("ProviderRequestFailed", execution, turn=conversation.turns, error=given["error"])
        return _stopped(builder, execution, "SEND_REQUEST", "provider-failed", "failed")
    calls = read_calls(given.get("calls"), f"{conversation.turns}.")
    said = Message("assistant", text_in(given, "text") or "", calls)
    if said.text:
        builder.emit("ProviderTokensStreamed", execution, turn=conversation.turns)
    builder.emit("ProviderRequestCompleted", execution, turn=conversation.turns)
    conversation = replace(conversation, transcript=(*conversation.transcript, said), calls=calls)
    response: Mapping[str, Json] = {"text": said.text, "calls": plain_calls(calls)}
    return _enter(builder, act, replace(execution, progress=conversation), "SEND_REQUEST/post", response)


def _sent(builder: StepBuilder, act: Converse, hooked: HookResult) -> Acted:
    execution = hooked.execution
    _left(builder, execution, "SEND_REQUEST")
    _fired(builder, execution, "STREAM_RESPONSE")
    return _stream(builder, act, execution, "STREAM_RESPONSE/pre")


def _stream(builder: StepBuilder, act: Converse, execution: Execution, slot: str) -> Acted:
    """Show a response to the hooks of a slot; one that arrives whole is one token."""
    said = conversation_of(execution).transcript[-1]
    about: Mapping[str, Json] = {"calls": plain_calls(said.calls)} if hooks.is_attached(builder, slot) else {}
    return _passed(builder, act, hooks.enter(builder, execution, slot, said.text, about))


def _streamed(builder: StepBuilder, act: Converse, hooked: HookResult) -> Acted:
    execution, text = hooked.execution, hooked.subject
    if not isinstance(text, str):
        return _stopped(builder, execution, "STREAM_RESPONSE", _FAILED, "failed")
    if hooked.slot == "STREAM_RESPONSE/pre":
        *before, said = conversation_of(execution).transcript
        execution = _rewritten(execution, (*before, replace(said, text=text)))
        return _stream(builder, act, execution, "STREAM_RESPONSE/post")
    _left(builder, execution, "STREAM_RESPONSE")
    return _classified(builder, act, execution)


def _classified(builder: StepBuilder, act: Converse, execution: Execution) -> Acted:
    """Go on as the calls of a response ask for."""
    calls = conversation_of(execution).calls
    completions = sum(each.tool == act.completion for each in calls)
    if not calls:
        return _loop(builder, act, _append(execution, Message("user", f"Call {act.completion} when you are done.")))
    if completions and len(calls) > 1:
        return _loop(builder, act, _append(execution, *(_rejected(act, each) for each in calls)))
    if completions:
        return _completed(builder, act, execution, calls[0])
    _fired(builder, execution, "TOOL_CALL")
    return _called(builder, act, tool_calls.begin(builder, act, execution))


def _rejected(act: Converse, call: Request) -> Message:
    return Message("tool", f"Not carried out: {act.completion} must be the only call of a turn.", call=call.id)


def _completed(builder: StepBuilder, act: Converse, execution: Execution, call: Request) -> Acted:
    complaint: str | None = "the argument is no object"
    if isinstance(call.arguments, dict):
        complaint = builder.program.payloads.complaint(act.schema, call.arguments)
    if complaint is not None:
        execution = _append(execution, Message("tool", f"Not accepted: {complaint}", call=call.id))
        return _loop(builder, act, update(execution, error=complaint))
    text = conversation_of(execution).transcript[-1].text
    execution = _append(execution, Message("tool", "Accepted.", call=call.id))
    result: Mapping[str, Json] = {"parsed": call.arguments, "capHit": False}
    execution = update(execution, result=result)
    _fired(builder, execution, "RENDER")
    return _enter(builder, act, execution, "RENDER/pre", {"text": text, "parsed": call.arguments})


def _rendered(builder: StepBuilder, act: Converse, hooked: HookResult) -> Acted:
    """Hand what hooks leave of the payload to whoever watches, and end the attempt."""
    execution, payload = hooked.execution, hooked.subject
    if hooked.slot == "RENDER/pre":
        return _enter(builder, act, execution, "RENDER/post", payload)
    _left(builder, execution, "RENDER", payload=payload)
    return Conclusion(execution, conversation_of(execution).result)


def _called(builder: StepBuilder, act: Converse, execution: Execution | None) -> Acted:
    """Take another turn once all calls are answered."""
    if execution is None:
        return None
    _left(builder, execution, "TOOL_CALL")
    return _loop(builder, act, execution)


def _append(execution: Execution, *messages: Message) -> Execution:
    return _rewritten(execution, (*conversation_of(execution).transcript, *messages))


def _rewritten(execution: Execution, transcript: tuple[Message, ...]) -> Execution:
    return update(execution, transcript=transcript)


_AFTER: Mapping[str, Callable[[StepBuilder, Converse, HookResult], Acted]] = {
    "RECEIVE_INPUT/pre": _received,
    "RECEIVE_INPUT/post": _received,
    "COMPOSE_REQUEST/pre": _composed,
    "COMPOSE_REQUEST/post": _composed,
    "SEND_REQUEST/pre": _composed,
    "SEND_REQUEST/post": _sent,
    "STREAM_RESPONSE/pre": _streamed,
    "STREAM_RESPONSE/post": _streamed,
    "RENDER/pre": _rendered,
    "RENDER/post": _rendered,
}
"""What follows once something has come through a slot."""
