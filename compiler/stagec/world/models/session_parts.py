"""The parts of an answer as a journal keeps them: responses on the way to it, and the results of calls."""

from __future__ import annotations

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import find_unreadable, mend_text
from stagec.runtime.readable_answers import UNREADABLE
from stagec.world.models.port import ModelCall, ModelReply, TokenUse
from stagec.world.models.usage import MEMBER, read_usage, usage_to_json

_TEXT, _CALLS, _CALL, _RESULT = "text", "calls", "call", "result"


def dump_call(call: ModelCall) -> Json:
    """Return a call as an answer has it."""
    told: dict[str, Json] = {"id": call.id, "tool": call.tool, "arguments": call.arguments}
    return told if call.unreadable is None else {**told, UNREADABLE: call.unreadable}


def dump_reply(reply: ModelReply, used: TokenUse, model: str) -> Json:
    """Return a response after which a model is asked again, with what it has used."""
    calls = [_dump_readable(each) for each in reply.calls]
    return {_TEXT: mend_text(reply.text), _CALLS: calls, MEMBER: usage_to_json(used, model)}


def _dump_readable(call: ModelCall) -> Json:
    """Return a call; arguments that no journal takes give way to the reason, which the model is told."""
    found = find_unreadable(dump_call(call))
    if found is None:
        return dump_call(call)
    return {"id": mend_text(call.id), "tool": mend_text(call.tool), "arguments": None, UNREADABLE: str(found)}


def read_reply(part: Json) -> ModelReply:
    """Return the response that a part holds; raise `Failure` for any other part."""
    told = object_of(part)
    text, calls = told.get(_TEXT), told.get(_CALLS)
    if not isinstance(text, str) or not isinstance(calls, list):
        raise _foreign_part()
    return ModelReply(text, tuple(map(_read_call, calls)), read_usage(part))


def _read_call(given: Json) -> ModelCall:
    told = object_of(given)
    name, tool = text_in(told, "id"), text_in(told, "tool")
    if name is None or tool is None:
        raise _foreign_part()
    return ModelCall(name, tool, told.get("arguments"), text_in(told, UNREADABLE))


def dump_result(call: str, result: Object) -> Json:
    """Return the result of a call, given the id of the call."""
    return {_CALL: call, _RESULT: dict(result)}


def read_result(part: Json, call: str) -> Object:
    """Return the result of a call that a part holds; raise `Failure` for any other part."""
    told = object_of(part)
    result = told.get(_RESULT)
    if told.get(_CALL) != call or not isinstance(result, dict):
        raise _foreign_part()
    return result


def _foreign_part() -> Failure:
    return Failure("the run cannot be resumed: its journal holds another response or call than the model made")
