"""Stages that run beside each other ask their models at the same time."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from benchmarks._fans import fan
from world.models.wire import Said, serve

from stagec.core.secrets import Redactor
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import run
from stagec.runtime.machine import Started, load
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.pydantic_provider import PydanticProvider
from stagec.runtime.world.tools.step_calls import StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox

SIBLINGS = 20


@pytest.mark.parametrize("model", ["openai:gpt-5.4", "anthropic:claude-next"])
def test_as_many_requests_are_under_way_as_the_plan_allows(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers no sibling before it was asked by all of them."""
    calls = [("c", "submit", "{}")]
    alone, beside = Said("", calls), Said("", calls, together=threading.Barrier(SIBLINGS))
    data = fan(SIBLINGS, SIBLINGS)
    plan = load(data).plan
    with serve(alone, *[beside] * SIBLINGS, alone) as wire:
        for name, url in (("OPENAI", f"{wire.url}/v1"), ("ANTHROPIC", wire.url)):
            monkeypatch.setenv(f"{name}_BASE_URL", url)
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        with closing(PydanticProvider()) as provider:
            setup = ModelSetup(provider, ModelChoice(model), StepCalls(Toolbox(plan, (), Redactor())))
            state = run(data, ModelWorld(plan, setup), Started("one"))
    assert state.ended is Outcome.DONE, state.reason
    assert len(wire.asked) == SIBLINGS + 2
