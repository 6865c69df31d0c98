"""What scenarios say of stages: they succeed unless it is told otherwise, and the machine understands the answers."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import processes
from runtime.processes.play import Play

from stagec.core.json import Json
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered
from stagec.runtime.machine.exchange import Execute, Wait
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.scenario import find_mistakes, parse_scenario
from stagec.runtime.world.scripted_world import ScriptedWorld

LOAD, TRAIN, EXPLORE, JUDGE, SEND = processes().nodes


def play(told: Json) -> Play:
    """Let a scenario answer until the run has ended."""
    world = ScriptedWorld(parse_scenario({"processes": told, "waits": "skip"}, "s.yaml"), ClosedWorld())
    run = Play(processes())
    while run.state.ended is None:
        effect = next(iter(run.state.pending.values()))
        assert not world.overlaps(effect) or type(effect) is Wait
        run.tell(Answered(effect.key, world.answer(effect)))
    return run


def test_what_is_not_named_succeeds() -> None:
    assert (play({}).state.ended, set(play({}).statuses.values())) == (Outcome.DONE, {"COMPLETED"})


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"exit": 1, "valid": False}, "BLOCKED"),
        ({"exit": 1}, "RESUMABLE"),
        ({"exit": None}, "RESUMABLE"),
        ({"interrupted": "timeout"}, "RESUMABLE"),
        ({"interrupted": "abort", "valid": False}, "BLOCKED"),
        ({"missing": ["model"]}, "RESUMABLE"),
        ({"changed": ["table"]}, "RESUMABLE"),
        ({"status": "failed"}, "RESUMABLE"),
        ({"error": "no such program"}, "RESUMABLE"),
        ({"unpublished": "disk full"}, "RESUMABLE"),
        ({"attempts": [{"exit": 1}, {}]}, "COMPLETED"),
        ({"attempts": [{"exit": 1}, {"exit": 1}, {"exit": 1}]}, "RESUMABLE"),
        ([{"exit": 1}], "RESUMABLE"),
        ({"seconds": 5, "status": "success"}, "COMPLETED"),
    ],
)
def test_a_stage_ends_as_the_scenario_says(told: Any, status: str) -> None:
    run = play({TRAIN: told})
    assert run.statuses[TRAIN] == status
    assert run.statuses[JUDGE] == ("COMPLETED" if status == "COMPLETED" else "BLOCKED")
    assert run.statuses[SEND] == "COMPLETED"


def test_without_the_member_stages_are_left_to_the_world() -> None:
    class Beyond(ClosedWorld):
        def answer(self, effect: Any) -> Json:
            return {"beyond": effect.key}

    run = Play(processes())
    (effect,) = run.state.pending.values()
    assert isinstance(effect, Execute)
    assert ScriptedWorld(parse_scenario({}, "s"), Beyond()).answer(effect) == {"beyond": effect.key}


def test_mistakes_in_the_names_of_stages_are_found() -> None:
    scenario = parse_scenario({"processes": {"S02_train_modl": {}}, "answers": {TRAIN: {}}}, "s")
    told = [each.told for each in find_mistakes(scenario, processes())]
    assert any("there is no stage 'S02_train_modl'; did you mean 'S02_train_model'" in each for each in told)
    assert any("it belongs under 'processes'" in each for each in told)
