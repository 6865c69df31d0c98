"""One exchange with a model: its requests, the tools that it calls in between, and what all of it has used."""

from __future__ import annotations

import json
from typing import Protocol

from stagec.core.json import Json, Object
from stagec.core.value import replace, value
from stagec.world.briefing import Definitions, ToolDefinition
from stagec.world.models.port import (
    Listener,
    ModelCall,
    ModelError,
    ModelFault,
    ModelMessage,
    ModelReply,
    ModelRequest,
    Provider,
    TokenUse,
)
from stagec.world.models.usage import add_usage

_ROUNDS = 50
"""Responses of a model in one step; one that calls tools without end has lost its way."""
_ASK_FOR_ANSWER = "Hand in the answer now, in the form that was asked for, and nothing else."


class Tools(Definitions, Protocol):
    """What defines tools, and carries out the calls of a step."""

    def call(self, key: str, tool: str, arguments: Json) -> Object:
        """Return `{"value": …}` or `{"error": …}`; `key` names the request in whose course it is called."""


@value
class HandedIn:
    """What came of asking: the last response, the messages that it added, and what it has used."""

    reply: ModelReply
    added: tuple[ModelMessage, ...]
    usage: TokenUse


class ModelSession:
    """Asks one model in the course of one request."""

    def __init__(self, provider: Provider, key: str, listen: Listener | None = None) -> None:
        self._provider, self._key, self._listen = provider, key, listen
        self._uses: list[TokenUse] = []

    @property
    def usage(self) -> TokenUse:
        """What was used until now, also by requests that came to nothing."""
        return add_usage(self._uses)

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return one response, or raise `ModelError`."""
        reply = self._provider.request(self._key, request, self._listen)
        self._uses.append(reply.usage)
        return reply

    def answer(self, request: ModelRequest, tools: Tools) -> HandedIn:
        """Return an answer that is JSON: the model calls tools until it hands one in, or raise `ModelError`."""
        messages = request.messages
        for _ in range(_ROUNDS):
            reply = self.ask(replace(request, messages=messages))
            said = ModelMessage("assistant", reply.text, reply.calls)
            if isinstance(reply.output, dict):
                handed_in = ModelMessage("assistant", write_result(reply.output))
                return HandedIn(reply, (*messages[len(request.messages) :], handed_in), self.usage)
            told = [self._call(tools, request.tools, each) for each in reply.calls]
            messages = (*messages, said, *(told or [ModelMessage("user", _ASK_FOR_ANSWER)]))
        raise ModelError(ModelFault.REFUSED, f"the model handed in no answer in {_ROUNDS} responses")

    def _call(self, tools: Tools, allowed: tuple[ToolDefinition, ...], call: ModelCall) -> ModelMessage:
        """Return what a tool answers; what is not allowed, or cannot be read, is answered as well."""
        if call.tool not in {each.name for each in allowed}:
            text = f"Denied: there is no tool {call.tool} here."
        elif not isinstance(call.arguments, dict):
            text = "Not carried out: the arguments are no JSON object."
        else:
            told = tools.call(self._key, call.tool, call.arguments)
            text = write_result(told.get("value", told.get("error")))
        return ModelMessage("tool", text, call=call.id, tool=call.tool)


def write_result(result: Json) -> str:
    """Return the result of a tool as the text that a model reads."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
