"""Which tools a model called in a step stands beside its answer; what was refused was not called."""

from __future__ import annotations

from typing import Any

import pytest
from playable import steps

from stagec.core.json import Object
from stagec.core.secrets import Redactor
from stagec.runtime.machine.exchange import Ask
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.port import Listener, ModelCall, ModelError, ModelFault, ModelReply, ModelRequest
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.scenario import CALLED
from stagec.runtime.world.tools.step_calls import StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox, ToolError

ANSWER = ModelReply("", output={"action": "next"})


class Provider:
    """Answers by a list, or fails."""

    def __init__(self, *replies: ModelReply | ModelError) -> None:
        self._replies = [*replies]

    def request(self, _key: str, _request: ModelRequest, _listen: Listener | None) -> ModelReply:
        reply = self._replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


class Tools:
    """Tools that all exist; `Break` fails."""

    names = ("Read", "Edit", "Break")

    def define(self, name: str) -> ToolDefinition:
        return ToolDefinition(name, "", {"type": "object"})

    def call(self, _key: str, tool: str, _arguments: Object) -> Any:
        if tool == "Break":
            raise ToolError("it is broken")
        return "done"

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


def calls(*tools: str) -> ModelReply:
    """Return a reply that calls some tools."""
    return ModelReply("", tuple(ModelCall(str(at), each, {}) for at, each in enumerate(tools)))


def ask(*replies: ModelReply | ModelError, tools: tuple[str, ...] | None = ("Read", "Break")) -> Any:
    """Return the answer of a model that may call some tools."""
    toolbox = Toolbox(steps(), (Tools(),), Redactor({}))
    setup = ModelSetup(Provider(*replies), ModelChoice("some:model"), StepCalls(toolbox))
    return ModelWorld(steps(), setup).answer(Ask("r/draft#1/1.0", "Draft", tools=tools))


@pytest.mark.parametrize(
    ("replies", "called"),
    [
        ((ANSWER,), []),
        ((calls("Read"), calls("Read", "Break"), ANSWER), ["Read", "Break"]),
        ((calls("Edit"), ANSWER), []),
        ((calls("Nowhere"), calls("Read"), ANSWER), ["Read"]),
    ],
)
def test_an_answer_lists_what_was_called(replies: tuple[ModelReply, ...], called: list[str]) -> None:
    told = ask(*replies)
    assert (told["answer"], told[CALLED]) == ({"action": "next"}, called)


def test_a_model_that_fails_has_called_what_it_called() -> None:
    told = ask(calls("Read"), ModelError(ModelFault.REFUSED, "no"))
    assert (told["error"]["code"], told[CALLED]) == (ModelFault.REFUSED.value, ["Read"])
