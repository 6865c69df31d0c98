"""Replay a history: compare each step with its digest in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from stagec.core.value import value
from stagec.runtime.drivers.history import History, list_branch
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Event, Rewound, visit_of
from stagec.runtime.machine.program import Program, load
from stagec.runtime.machine.state import State, StepResult
from stagec.runtime.machine.step_text import show, show_step


@value
class Difference:
    """The first event with another outcome: `what` differs, the requests and trace events or the `state`."""

    seq: int
    what: str


class BranchWalk:
    """Advances event by event, also back to where a new branch of history begins; `program` and `state` are there."""

    def __init__(self, program: Program) -> None:
        self.program, self.state = program, State()
        self._begun = program
        self._events: list[Event] = []

    def take(self, event: Event) -> StepResult:
        """Return what follows from the next event."""
        self._events.append(event)
        step = self._rewind() if type(event) is Rewound else advance(self.program, self.state, event)
        self.state, self.program = step.state, step.program or self.program
        return step

    def _rewind(self) -> StepResult:
        """Return the state of the branch that goes on: its open requests are made again, and all others are void."""
        program, state = self._begun, State()
        for seq in list_branch(self._events):
            step = advance(program, state, self._events[seq])
            state, program = step.state, step.program or program
        is_other = program.digest != self.program.digest
        void = tuple(self.state.pending)
        return StepResult(state, tuple(state.pending.values()), void, program=program if is_other else None)


@value
class RunPlace:
    """An execution that a run can be taken back to: its node and visit, and how many events are before its requests."""

    node: str
    visit: int
    to: int


def list_places(program: Program, events: Sequence[Event]) -> list[RunPlace]:
    """Return the places of the present branch of a history, in order; `program` is the one that the run began with.

    An execution that has begun and ended in one event has asked for nothing, so it is no place.
    """
    branch, before, found = list_branch(events), State(), list[RunPlace]()
    for seq, (_, step) in zip(branch, advance_through(program, (events[seq] for seq in branch)), strict=True):
        begun = (each for key, each in step.state.active.items() if key not in before.active)
        found += (RunPlace(each.node, visit_of(each.key), seq + 1) for each in begun)
        before = step.state
    return found


def advance_through(program: Program, events: Iterable[Event]) -> Iterator[tuple[Event, StepResult]]:
    """Yield the events of a history, each with what follows from it; `program` is the one that the run began with."""
    walk = BranchWalk(program)
    return ((event, walk.take(event)) for event in events)


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


_OFTEN = 1_000
"""Events between two digests of the whole state, which may be large; a difference in it soon shows in requests."""


def digest_step(number: int, step: StepResult) -> str:
    """Return the step digest of the event of a number; `stagec.runtime.machine.step_text` declares what it covers."""
    followed = _digest(show_step(step.effects, step.void, step.trace))
    return f"{followed}.{_digest(show(step.state))}" if _is_looked_at(number, step) else followed


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
