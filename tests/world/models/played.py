"""Runs with models behind a scripted server, in memory: everything else in their world does what is harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from world.models.wire import Said, Wire, serve

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.runtime.drivers.local.drive import RunSession, proceed
from stagec.runtime.machine import Effect, Event, Program, Started, State
from stagec.runtime.machine.exchange import Shell, Wait
from stagec.runtime.world.budget import Budget, BudgetedWorld
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.pydantic_provider import PydanticProvider
from stagec.runtime.world.models.retries import PolicyTable, RetryingProvider
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.step_calls import StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox


class Tools:
    """Tools that all exist and say what they were asked."""

    names = ()

    def __init__(self) -> None:
        self.called: list[tuple[str, Json]] = []

    def define(self, name: str) -> ToolDefinition:
        return ToolDefinition(name, "", {"type": "object"})

    def call(self, _key: str, tool: str, arguments: Object) -> Json:
        self.called.append((tool, arguments))
        return f"{tool} was called"

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


class World:
    """Models behind a wire; everything else does what is harmless."""

    def __init__(self, models: ModelWorld, tools: Tools) -> None:
        self.models, self.tools = models, tools
        self.answers: list[tuple[Effect, Json]] = []
        self.overlaps = models.overlaps
        self.cancel = models.cancel

    def takes(self, _effect: Effect) -> bool:
        return True

    def close(self) -> None: ...

    def answer(self, effect: Effect) -> Json:
        told: Json = {}
        if self.models.takes(effect):
            told = self.models.answer(effect)
        elif isinstance(effect, Shell):
            told = {"exit": 0, "stdout": "", "stderr": ""}
        elif not isinstance(effect, Wait):
            told = {"granted": True, "value": "ok", "yes": True}
        self.answers.append((effect, told))
        return told


class _Store:
    def __init__(self) -> None:
        self.count, self.waits = 0, False

    def append(self, _event: Event, _body: str, /) -> None:
        self.count += 1

    def take_digest(self, step_digest: str, /) -> None: ...

    def seal(self) -> None: ...


Played = tuple[State, World, Wire]
"""How a run has ended, its world, and what the server was asked."""
TRIES = 2
"""How often a request is made that fails in a way that passes."""
POLICY = {"attempts": TRIES, "first-pause": 0.01}


@contextmanager
def playing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Played]]:
    """Run programs with a model behind a scripted server; all servers are closed at the end."""
    closing_later: list[Any] = []

    def run(
        model: str,
        program: Program,
        started: Started,
        *script: Said,
        seconds: float = 30.0,
        opened: list[Wire] | None = None,
        budget: int = 0,
        more: int = 0,
    ) -> Played:
        serving = serve(*script)
        wire = serving.__enter__()
        (opened if opened is not None else []).append(wire)
        for name, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
            monkeypatch.setenv(f"{name}_BASE_URL", wire.url + path)
            monkeypatch.setenv(f"{name}_API_KEY", "key")
        policies = {"default": {**POLICY, "request-timeout": seconds}}
        provider = RetryingProvider(PydanticProvider(), PolicyTable(policies))
        tools = Tools()
        calls = StepCalls(Toolbox(program.plan, (tools,), Redactor()))
        setup = ModelSetup(provider, ModelChoice(model), calls)
        world = World(ModelWorld(program.plan, setup), tools)
        closing_later.append((serving, provider))
        answering: Any = world
        if budget:
            extend = (lambda _: Decimal(more)) if more else None
            answering = BudgetedWorld(ComposedWorld((world.models, world)), Budget(budget), extend)
        return proceed(RunSession(program, _Store(), answering), State(), started), world, wire

    yield run
    for serving, provider in closing_later:
        provider.close()
        serving.__exit__(None, None, None)
