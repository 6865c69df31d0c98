"""Walk through a plan as asked: by a scenario, or by what somebody types."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.commands.simulate.session import Session
from stagec.cli.running.inputs import inputs_of, refuse_unfit
from stagec.cli.running.programs import read_program
from stagec.cli.running.scenarios import read_scenario
from stagec.cli.running.sitting import status_of
from stagec.cli.running.telling import teller
from stagec.core.failure import Exit
from stagec.core.value import value
from stagec.drivers.local.drive import next_request
from stagec.runtime import Answered, Event, Program, Started, State, advance
from stagec.world.local import ClosedWorld
from stagec.world.scenario import Scenario
from stagec.world.scripted import ScriptedWorld


@value
class Request:
    """The arguments and options as given; None where nothing was said."""

    plan: Path
    scenario: Path | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None


def walk(request: Request) -> Exit:
    """Walk through a plan; return the exit status that the end deserves."""
    _, program = read_program(request.plan)
    scenario = read_scenario(request.scenario, program.plan)
    inputs = inputs_of(program, scenario.inputs, request.inputs)
    started = Started("simulation", request.entry if request.entry is not None else scenario.entry, inputs)
    refuse_unfit(program, started)
    if request.scenario is not None:
        return status_of(_scripted(program, scenario, started))
    state = Session(program, started).talk()
    return Exit.CLEAN if state.ended is None else status_of(state)


def _scripted(program: Program, scenario: Scenario, event: Event) -> State:
    """Take the answers of a scenario, and print the way."""
    world, tells, state = ScriptedWorld(scenario, ClosedWorld()), teller(program.plan, None), State()
    while True:
        step = advance(program, state, event)
        tells.observe(event, step)
        state = step.state
        if state.ended is not None:
            tells.conclude(state)
            return state
        effect = next_request(state)
        event = Answered(effect.key, world.answer(effect))
