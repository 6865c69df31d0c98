"""Act: the turns of a model in the message loop, the completion channel, the batch rule, and steering (§ 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.runtime.acts import calling, hooking
from stagec.runtime.acts.bound import STAGE, continued
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.hooking import Passage
from stagec.runtime.acts.messages import plain, plain_calls, read_calls, read_messages
from stagec.runtime.acts.talk import talk_of
from stagec.runtime.effect import Effect, Hook, Message, Request, Turn
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution
from stagec.runtime.turns import session_turn

_FAILED = "HookTransformFailed"

Acted = Conclusion | None
"""An attempt that is over; None while anything is waited for."""


def begin(moment: Moment, act: Converse, execution: Execution) -> Acted:
    """RECEIVE_INPUT: the prompt is the input, and begins the transcript."""
    _fired(moment, execution, "RECEIVE_INPUT")
    return _enter(moment, act, execution, "RECEIVE_INPUT/pre", talk_of(execution).transcript[0].text)


def again(moment: Moment, act: Converse, execution: Execution) -> Acted:
    """Begin another attempt on the same transcript."""
    talk = replace(talk_of(execution), turns=0, result={})
    return _loop(moment, act, replace(execution, attempt=execution.attempt + 1, asked=0, detail=talk))


def answered(moment: Moment, act: Converse, execution: Execution, effect: Effect, given: Mapping[str, Json]) -> Acted:
    """Take a response of the model, what hooks and people say, or what became of a call."""
    if isinstance(effect, Turn):
        return _responded(moment, act, execution, given)
    if isinstance(effect, Hook):
        return _passed(moment, act, hooking.answered(moment, execution, effect, given))
    return _called(moment, act, calling.answered(moment, act, execution, effect, given))


def _enter(moment: Moment, act: Converse, execution: Execution, slot: str, subject: Json) -> Acted:
    return _passed(moment, act, hooking.enter(moment, execution, slot, subject))


def _passed(moment: Moment, act: Converse, passage: Passage | None) -> Acted:
    """Go on with what has come through a slot."""
    if passage is None:
        return None
    stage = passage.slot.partition("/")[0]
    if stage == "TOOL_CALL":
        return _called(moment, act, calling.passed(moment, act, passage))
    if passage.refused is not None:
        return _stopped(moment, passage.execution, stage, passage.refused, "failed" if passage.failed else "denied")
    return _AFTER[passage.slot](moment, act, passage)


def _stopped(moment: Moment, execution: Execution, stage: str, code: str, outcome: str) -> Conclusion:
    _left(moment, execution, stage, outcome)
    return Conclusion(execution, refused=code)


def _fired(moment: Moment, execution: Execution, stage: str) -> None:
    moment.tell("StagePreFired", execution, stage=stage, **_ids(moment, execution))


def _left(moment: Moment, execution: Execution, stage: str, outcome: str = "ok", **facts: Json) -> None:
    moment.tell("StagePostFired", execution, stage=stage, **_ids(moment, execution), outcome=outcome, **facts)


def _ids(moment: Moment, execution: Execution) -> dict[str, Json]:
    return {"turnId": session_turn(moment.scopes, execution), "correlationId": f"{execution.key}/{execution.attempt}"}


def _received(moment: Moment, act: Converse, passage: Passage) -> Acted:
    """Put what hooks leave of the input at the head of the transcript."""
    text = passage.subject
    if not isinstance(text, str):
        return _stopped(moment, passage.execution, "RECEIVE_INPUT", _FAILED, "failed")
    execution = _rewritten(passage.execution, (Message("system", text),))
    if passage.slot == "RECEIVE_INPUT/pre":
        return _enter(moment, act, execution, "RECEIVE_INPUT/post", text)
    _left(moment, execution, "RECEIVE_INPUT")
    return _loop(moment, act, execution)


def _loop(moment: Moment, act: Converse, execution: Execution) -> Acted:
    """COMPOSE_REQUEST, unless the cap is hit."""
    talk = talk_of(execution)
    if not continued(STAGE, act.turns, talk.turns).proceed:
        return Conclusion(execution, {"capHit": True})
    talk = replace(talk, request=None, calls=(), decided=(), running=(), outcomes=(), finished=0)
    execution = replace(execution, detail=talk)
    _fired(moment, execution, "COMPOSE_REQUEST")
    return _compose(moment, act, execution, "COMPOSE_REQUEST/pre")


def _compose(moment: Moment, act: Converse, execution: Execution, slot: str) -> Acted:
    """Show a request to the hooks of a slot, if there are any."""
    talk = talk_of(execution)
    request: Json = None
    if hooking.is_attached(moment, slot):
        request = talk.request or {"transcript": plain(talk.transcript), "tools": list(dict.fromkeys(act.tools))}
    return _enter(moment, act, execution, slot, request)


def _composed(moment: Moment, act: Converse, passage: Passage) -> Acted:
    """Keep what hooks make of a request: what is sent, and not what is remembered."""
    execution, stage = passage.execution, passage.slot.partition("/")[0]
    if passage.changed:
        if not _is_request(passage.subject):
            return _stopped(moment, execution, stage, _FAILED, "failed")
        talk = replace(talk_of(execution), request=object_of(passage.subject))
        execution = replace(execution, detail=talk)
    if passage.slot == "COMPOSE_REQUEST/pre":
        return _compose(moment, act, execution, "COMPOSE_REQUEST/post")
    if stage == "COMPOSE_REQUEST":
        _left(moment, execution, stage)
        _fired(moment, execution, "SEND_REQUEST")
        return _compose(moment, act, execution, "SEND_REQUEST/pre")
    _send(moment, act, execution)
    return None


def _is_request(given: Json) -> bool:
    tools = object_of(given).get("tools")
    named = isinstance(tools, list) and all(isinstance(each, str) for each in tools)
    return named and read_messages(object_of(given).get("transcript")) is not None


def _send(moment: Moment, act: Converse, execution: Execution) -> None:
    """Let the model take a turn."""
    talk = talk_of(execution)
    transcript, tools = talk.transcript, tuple(dict.fromkeys(act.tools))
    if talk.request is not None:
        transcript = read_messages(talk.request["transcript"]) or transcript
        tools = tuple(dict.fromkeys(map(str, list_of(talk.request["tools"]))))
    execution = replace(execution, detail=replace(talk, turns=talk.turns + 1, request=None))
    moment.tell("ProviderRequestStarted", execution, turn=talk.turns + 1)
    given = {"transcript": transcript, "tools": tools, "completion": act.completion, "schema": act.schema}
    moment.request(execution, Turn, **given)


def _responded(moment: Moment, act: Converse, execution: Execution, given: Mapping[str, Json]) -> Acted:
    """SEND_REQUEST is over and STREAM_RESPONSE begins; a provider that fails ends the attempt."""
    talk = talk_of(execution)
    if "error" in given:
        moment.tell("ProviderRequestFailed", execution, turn=talk.turns, error=given["error"])
        return _stopped(moment, execution, "SEND_REQUEST", "provider-failed", "failed")
    calls = read_calls(given.get("calls"), f"{talk.turns}.")
    said = Message("assistant", text_in(given, "text") or "", calls)
    if said.text:
        moment.tell("ProviderTokensStreamed", execution, turn=talk.turns)
    moment.tell("ProviderRequestCompleted", execution, turn=talk.turns)
    talk = replace(talk, transcript=(*talk.transcript, said), calls=calls)
    response: Mapping[str, Json] = {"text": said.text, "calls": plain_calls(calls)}
    return _enter(moment, act, replace(execution, detail=talk), "SEND_REQUEST/post", response)


def _sent(moment: Moment, act: Converse, passage: Passage) -> Acted:
    execution = passage.execution
    _left(moment, execution, "SEND_REQUEST")
    _fired(moment, execution, "STREAM_RESPONSE")
    return _stream(moment, act, execution, "STREAM_RESPONSE/pre")


def _stream(moment: Moment, act: Converse, execution: Execution, slot: str) -> Acted:
    """Show a response to the hooks of a slot; one that arrives whole is one token."""
    said = talk_of(execution).transcript[-1]
    about: Mapping[str, Json] = {"calls": plain_calls(said.calls)} if hooking.is_attached(moment, slot) else {}
    return _passed(moment, act, hooking.enter(moment, execution, slot, said.text, about))


def _streamed(moment: Moment, act: Converse, passage: Passage) -> Acted:
    execution, text = passage.execution, passage.subject
    if not isinstance(text, str):
        return _stopped(moment, execution, "STREAM_RESPONSE", _FAILED, "failed")
    if passage.slot == "STREAM_RESPONSE/pre":
        *before, said = talk_of(execution).transcript
        execution = _rewritten(execution, (*before, replace(said, text=text)))
        return _stream(moment, act, execution, "STREAM_RESPONSE/post")
    _left(moment, execution, "STREAM_RESPONSE")
    return _classified(moment, act, execution)


def _classified(moment: Moment, act: Converse, execution: Execution) -> Acted:
    """Go on as the calls of a response ask for."""
    calls = talk_of(execution).calls
    completions = sum(each.tool == act.completion for each in calls)
    if not calls:
        return _loop(moment, act, _told(execution, Message("user", f"Call {act.completion} when you are done.")))
    if completions and len(calls) > 1:
        return _loop(moment, act, _told(execution, *(_rejected(act, each) for each in calls)))
    if completions:
        return _completed(moment, act, execution, calls[0])
    _fired(moment, execution, "TOOL_CALL")
    return _called(moment, act, calling.begin(moment, act, execution))


def _rejected(act: Converse, call: Request) -> Message:
    return Message("tool", f"Not carried out: {act.completion} must be the only call of a turn.", call=call.id)


def _completed(moment: Moment, act: Converse, execution: Execution, call: Request) -> Acted:
    complaint: str | None = "the argument is no object"
    if isinstance(call.arguments, dict):
        complaint = moment.program.payloads.complaint(act.schema, call.arguments)
    if complaint is not None:
        execution = _told(execution, Message("tool", f"Not accepted: {complaint}", call=call.id))
        return _loop(moment, act, replace(execution, detail=replace(talk_of(execution), error=complaint)))
    text = talk_of(execution).transcript[-1].text
    execution = _told(execution, Message("tool", "Accepted.", call=call.id))
    result: Mapping[str, Json] = {"parsed": call.arguments, "capHit": False}
    execution = replace(execution, detail=replace(talk_of(execution), result=result))
    _fired(moment, execution, "RENDER")
    return _enter(moment, act, execution, "RENDER/pre", {"text": text, "parsed": call.arguments})


def _rendered(moment: Moment, act: Converse, passage: Passage) -> Acted:
    """Hand what hooks leave of the payload to whoever watches, and end the attempt."""
    execution, payload = passage.execution, passage.subject
    if passage.slot == "RENDER/pre":
        return _enter(moment, act, execution, "RENDER/post", payload)
    _left(moment, execution, "RENDER", payload=payload)
    return Conclusion(execution, talk_of(execution).result)


def _called(moment: Moment, act: Converse, execution: Execution | None) -> Acted:
    """Take another turn once all calls are answered."""
    if execution is None:
        return None
    _left(moment, execution, "TOOL_CALL")
    return _loop(moment, act, execution)


def _told(execution: Execution, *messages: Message) -> Execution:
    return _rewritten(execution, (*talk_of(execution).transcript, *messages))


def _rewritten(execution: Execution, transcript: tuple[Message, ...]) -> Execution:
    return replace(execution, detail=replace(talk_of(execution), transcript=transcript))


_AFTER: Mapping[str, Callable[[Moment, Converse, Passage], Acted]] = {
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
