"""Play a plan in memory, one request after the other, with a world that answers at once."""

from __future__ import annotations

from stagec.drivers.local.drive import Observer
from stagec.drivers.requests import World
from stagec.runtime import Answered, Event, Program, State, advance
from stagec.runtime.exchange import choose_next


def play(program: Program, world: World, event: Event, observe: Observer) -> State:
    """Return the state in which a run ends; whatever the world raises ends it."""
    state = State()
    while True:
        step = advance(program, state, event)
        observe(event, step)
        state = step.state
        if state.ended is not None:
            return state
        effect = choose_next(state.pending.values())
        event = Answered(effect.key, world.answer(effect))
