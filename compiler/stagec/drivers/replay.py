"""Replay a history: compare each step with its digest in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from operator import attrgetter
from typing import Any, get_args

from stagec.core.value import value
from stagec.drivers.history import History
from stagec.runtime.advance import advance
from stagec.runtime.exchange import Effect, Event
from stagec.runtime.program import Program, load
from stagec.runtime.state import State, StepResult


@value
class Difference:
    """The first event with another outcome: `what` differs, the requests and trace events or the `state`."""

    seq: int
    what: str


def advance_through(program: Program, events: Iterable[Event]) -> Iterator[tuple[Event, StepResult]]:
    """Yield the events of a history, each with what follows from it; `program` is the one that the run began with."""
    state = State()
    for event in events:
        step = advance(program, state, event)
        yield event, step
        state, program = step.state, step.program or program


def advance_history(program: Program, history: History) -> Iterator[tuple[Event, StepResult]]:
    """Yield the events of a history, each with what follows; `program` is any of those that the run has had."""
    return advance_through(program if history.last_change is None else load(history.plan), history.events)


def fold_events(program: Program, events: Iterable[Event]) -> State:
    """Return the state that a history leads to; `program` is the one that the run began with."""
    return fold_run(program, events)[1]


def fold_run(program: Program, events: Iterable[Event]) -> tuple[Program, State]:
    """Return the program with which a run goes on after a history, and its state."""
    state = State()
    for _, step in advance_through(program, events):
        state, program = step.state, step.program or program
    return program, state


def find_difference(seq: int, step: StepResult, known: str) -> Difference | None:
    """Return how what follows from an event differs from what its step digest says; nothing when it does not."""
    now = digest_step(seq, step)
    if not known or now == known or now.partition(".")[0] == known:  # older journals say nothing of the state
        return None
    same = now.partition(".")[0] == known.partition(".")[0]
    return Difference(seq, "state" if same else "what")


def replay_twice(program: Program, again: Program, history: History) -> State | Difference:
    """Advance twice through a history, by programs that share nothing; return the state, or the first difference.

    What follows from each event must be what its step digest says, and the same both times; whole states, which may be
    large, are compared as often as they have digests, and at the end.
    """
    both = zip(
        advance_through(program, history.events),
        advance_through(again, history.events),
        history.step_digests,
        strict=True,
    )
    state, last = State(), len(history.events) - 1
    for seq, ((_, step), (_, other), known) in enumerate(both):
        found = find_difference(seq, step, known)
        if found is not None:
            return found
        if (_is_looked_at(seq, step) or seq == last) and step.state != other.state:
            return Difference(seq, "state")
        if (step.effects, step.void, step.trace, step.moves) != (other.effects, other.void, other.trace, other.moves):
            return Difference(seq, "what")
        state = step.state
    return state


def _is_looked_at(seq: int, step: StepResult) -> bool:
    """Tell whether the whole state counts after an event."""
    return seq % _OFTEN == 0 or step.state.ended is not None


_MEMBERS: Mapping[type, Callable[[Effect], Any]] = {kind: attrgetter(*kind.__match_args__) for kind in get_args(Effect)}
"""What reads all members of a request of a class; every event has a step digest, so it must be quick."""
_OFTEN = 1_000
"""Events between two digests of the whole state, which may be large; a difference in it soon shows in requests."""


def digest_step(number: int, step: StepResult) -> str:
    """Return the step digest of the event of a number."""
    asked = [(type(each).__name__, _MEMBERS[type(each)](each)) for each in step.effects]
    followed = _digest((asked, step.void, [(each.name, each.facts) for each in step.trace]))
    return f"{followed}.{_digest(step.state)}" if _is_looked_at(number, step) else followed


def _digest(given: object) -> str:
    """Return the digest of a value; values are equal when they are shown alike, in every version of Unicode."""
    return blake2b(ascii(given).encode(), digest_size=16).hexdigest()
