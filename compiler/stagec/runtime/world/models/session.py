"""One exchange with a model: its requests, the tools that it calls in between, and what all of it has used."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Protocol

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.json_reader import find_unreadable, mend_text
from stagec.core.value import replace, value
from stagec.runtime.machine.answer_schemas import UNREADABLE
from stagec.runtime.machine.exchange import Ask, Turn
from stagec.runtime.world.composed import ComposedWorld, Meter, Recorder
from stagec.runtime.world.models.port import (
    ANSWER,
    MEMBER,
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelMessage,
    ModelReply,
    ModelRequest,
    Provider,
    TokenUse,
    add_usage,
    price_usage,
    read_usage,
    usage_to_json,
)
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.toolbox import is_refused
from stagec.sources.project.prices import PriceTable

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


_ROUNDS = 50
"""Responses of a model in one step; one that calls tools without end has lost its way."""
_ALONE = f"Nothing was carried out: {ANSWER} must be the only call of a response."
_ASK_FOR_ANSWER = "Hand in the answer now, in the form that was asked for, and nothing else."


CarryOut = Callable[[str, str, Json, Object | None], Object]
"""Carries a call out, given its id, its tool and its arguments; returns `{"value": …}` or `{"error": …}`.

The last argument is the result of a call that was carried out before this process began: then it only counts.
"""


class Tools(Protocol):
    """What defines the tools of requests, and carries out the calls of steps."""

    def define(self, request: Ask | Turn) -> tuple[ToolDefinition, ...]:
        """Return the tools that a model is told of."""

    def begin(self, step: Ask) -> CarryOut:
        """Return what carries out the calls of a step, as far as they may be made."""

    def cancel(self, key: str) -> None:
        """End what is under way for a step."""

    def join(self, world: ComposedWorld) -> None:
        """Let calls be answered by a whole world."""


@value
class HandedIn:
    """What came of asking: the last response, the messages that it added, and what it has used."""

    reply: ModelReply
    added: tuple[ModelMessage, ...]
    usage: TokenUse


class ModelSession:
    """Asks one model in the course of one request."""

    def __init__(
        self,
        provider: Provider,
        effect: Ask | Turn,
        listen: Listener | None = None,
        prices: PriceTable | None = None,
        meter: Meter | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._provider, self._effect, self._listen, self._prices = provider, effect, listen, prices
        self._meter = meter
        self._is_asking, self._recorder = False, recorder
        self._known = [] if recorder is None else list(recorder.list_parts(effect.key))
        self._uses: list[TokenUse] = []
        self._called: dict[str, None] = {}

    @property
    def usage(self) -> TokenUse:
        """What was used until now, also by requests that came to nothing."""
        return add_usage(self._uses)

    @property
    def called(self) -> tuple[str, ...]:
        """The tools that were called until now, each once; a call that is refused does not count."""
        return tuple(self._called)

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return one response, or raise `ModelError`; raise `Failure` when a budget allows no more requests."""
        if self._meter is not None and self._is_asking:  # whoever asks for an answer has admitted the first
            self._meter.reserve(self._effect)
        self._is_asking = True
        reply = self._provider.request(self._effect.key, request, self._listen)
        if self._listen is not None:
            self._listen("\n")
        known = self._prices
        self._uses.append(reply.usage if known is None else price_usage(known, request.model, reply.usage))
        if self._meter is not None:
            self._meter.spend(self._effect, self._uses[-1])
        return reply

    def recall(self, last: ModelReply) -> tuple[ModelMessage, ...]:
        """Return the messages that a step has added whose `last` response came before; nothing is asked or called."""
        self._recorder = None
        return self.answer(ModelRequest("", ()), _repeat_known, last).added

    def answer(self, request: ModelRequest, carry_out: CarryOut, last: ModelReply | None = None) -> HandedIn:
        """Return what a model hands in after calls of tools, or raise `ModelError`; no request is made for the `last`.

        That is an object, or no answer: one that cannot be read, or a response that is not whole.
        """
        messages = request.messages
        for _ in range(_ROUNDS):
            recalled = self._recall_reply()
            reply = recalled or last or self.ask(replace(request, messages=messages))
            said = ModelMessage("assistant", reply.text, reply.calls)
            is_over = reply.unreadable is not None or (reply.finish is not None and not reply.calls)
            if is_over or isinstance(reply.output, dict):
                text = write_result(reply.output or reply.text)
                handed_in = [ModelMessage("assistant", text)] if text else []
                return HandedIn(reply, (*messages[len(request.messages) :], *handed_in), self.usage)
            if recalled is None:
                reply = self._keep_reply(reply, request.model)
                said = ModelMessage("assistant", reply.text, reply.calls)
            if any(each.tool == ANSWER for each in reply.calls):
                told = [ModelMessage("tool", _ALONE, call=each.id, tool=each.tool) for each in reply.calls]
            else:
                told = [self._call(carry_out, each) for each in reply.calls]
            messages = (*messages, said, *(told or [ModelMessage("user", _ASK_FOR_ANSWER)]))
        raise ModelError(ModelFault.REFUSED, f"the model gave no answer in {_ROUNDS} responses")

    def _recall_reply(self) -> ModelReply | None:
        """Return the next response that came before this process began, None when there is none."""
        if not self._known:
            return None
        reply = read_reply(self._known.pop(0))
        self._uses.append(reply.usage)
        return reply

    def _keep_reply(self, reply: ModelReply, model: str) -> ModelReply:
        """Return a response as the journal gives it back, before anything follows from it."""
        if self._recorder is None:
            return reply
        return read_reply(self._recorder.keep(self._effect.key, dump_reply(reply, self._uses[-1], model)))

    def _call(self, carry_out: CarryOut, call: ModelCall) -> ModelMessage:
        """Return what a tool answers; what is not allowed, or cannot be read, is answered as well."""
        if isinstance(call.arguments, dict):
            known = read_result(self._known.pop(0), call.id) if self._known else None
            told = carry_out(call.id, call.tool, call.arguments, known)
            if known is None and self._recorder is not None:
                told = read_result(self._recorder.keep(self._effect.key, dump_result(call.id, told)), call.id)
            if not is_refused(told):
                self._called[call.tool] = None
            text = write_result(told.get("value", told.get("error")))
        elif call.unreadable is not None:
            text = f"Not carried out: the arguments cannot be read: {call.unreadable}"
        else:
            text = "Not carried out: the arguments are not a JSON object."
        return ModelMessage("tool", text, call=call.id, tool=call.tool)


def _repeat_known(_call: str, _tool: str, _arguments: Json, known: Object | None) -> Object:
    """Return the result of a call that a journal holds; the requests of other workers have only some of them."""
    return known or {"error": "the result is not known any more"}


def write_result(result: Json) -> str:
    """Return the result of a tool as the text that a model reads."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
