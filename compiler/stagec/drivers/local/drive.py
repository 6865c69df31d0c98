"""The loop that runs a plan: advance, journal what has happened, ask the world, journal what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stagec.core.json import Json
from stagec.core.value import value
from stagec.drivers.local.events import read, written
from stagec.drivers.local.history import History, JournalError, Reason
from stagec.drivers.local.journal import Journal
from stagec.drivers.local.marks import mark
from stagec.drivers.local.replaying import difference, fold, steps
from stagec.runtime.advance import advance
from stagec.runtime.effect import Effect, Wait
from stagec.runtime.event import Answered, Event
from stagec.runtime.program import Program
from stagec.runtime.state import State, Step

__all__ = ["Observer", "Sitting", "World", "drive", "fold", "next_request", "proceed", "recalled", "unseen"]


class World(Protocol):
    """What answers the requests of the machine."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request, in the form that its class names."""


Observer = Callable[[Event, Step], None]
"""Is told of every event that is in the journal, and of what followed from it."""


def unseen(_event: Event, _step: Step) -> None:
    """Observe nothing."""


class Kept(Protocol):
    """What keeps the events of a run, as a `Journal` does it."""

    @property
    def count(self) -> int:
        """How many events it holds, and the number of the next."""

    def append(self, event: Event, mark: str = "", body: str | None = None, /) -> None:
        """Keep an event; nothing may follow from it before this returns."""


@value
class Sitting:
    """One process that goes on with a run: by which program and journal, with which world, before whose eyes."""

    program: Program
    journal: Kept
    world: World
    observe: Observer = unseen


def drive(program: Program, journal: Journal, world: World, event: Event | None, observe: Observer = unseen) -> State:
    """Go on with a run until it has ended; `event` is what has just happened, None to go on where the journal ends.

    What was asked and not answered when the run was interrupted is asked again, under the same keys.
    """
    return proceed(Sitting(program, journal, world, observe), recalled(program, journal.history), event)


def recalled(program: Program, history: History, observe: Observer = unseen) -> State:
    """Return the state that a history leads to; raise `JournalError` when something else follows from it than did."""
    state = State()
    for seq, ((event, step), marked) in enumerate(zip(steps(program, history.events), history.marks, strict=True)):
        if difference(seq, step, marked) is not None:
            told = f"something else follows from event {seq} now than when it happened: it was run by another stagec"
            raise JournalError(Reason.UNUSABLE, told)
        observe(event, step)
        state = step.state
    return state


def proceed(sitting: Sitting, state: State, event: Event | None) -> State:
    """Go on from a state, the one to which the journal leads, until the run has ended."""
    program, journal = sitting.program, sitting.journal
    while state.ended is None:
        if event is None:
            effect = next_request(state)
            event = Answered(effect.key, sitting.world.answer(effect))
        event, body = _as_kept(event)
        step = advance(program, state, event)
        journal.append(event, mark(journal.count, step), body)
        sitting.observe(event, step)
        state, event = step.state, None
    return state


def next_request(state: State) -> Effect:
    """Return the request of a run that is answered next: the first that is no wait, and of waits alone the shortest."""
    waits = []
    for effect in state.pending.values():
        if type(effect) is not Wait:
            return effect
        waits.append(effect)
    return min(waits, key=_length)


def _length(wait: Wait) -> int:
    return wait.milliseconds


def _as_kept(event: Event) -> tuple[Event, str]:
    """Return an event as the journal gives it back, so that a run and its replay see the same; and its JSON."""
    try:
        body = written(event)
        return read(body), body
    except (TypeError, ValueError) as error:
        raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
