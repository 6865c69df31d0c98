"""The way of a run that a test can go once more: what its journal holds, without what came to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.failure import Failure
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.drivers.history import list_branch
from stagec.drivers.replay import advance_through
from stagec.flow_tests.scenario_writing import Exchange
from stagec.protocol.lifecycle import StageStatus
from stagec.runtime import Answered, Cancelled, Program, Started, State, StepResult
from stagec.runtime.agent_runs import run_of
from stagec.runtime.exchange import Event, Replanned, Resumed, read_key


@value
class RecordedRun:
    """What a journal holds of a run: how it began, the requests with their answers, how it ended, and what it ran.

    `program` is that of the plan that it ended with; `left` says what of the journal is not in it.
    """

    program: Program
    started: Started
    answered: tuple[Exchange, ...]
    ended: State
    path: tuple[str, ...]
    left: tuple[str, ...] = ()


def read_way(program: Program, events: tuple[Event, ...], name: str) -> RecordedRun:
    """Return what a journal holds on its present branch; raise `Failure` for a run of which there can be no test."""
    way = _Way(program)
    for event, step in advance_through(program, [events[seq] for seq in list_branch(events)]):
        way.take(event, step)
    if way.is_cancelled:
        raise Failure(f"the run {quote(name)} was cancelled: a scenario cannot express a cancellation")
    if way.started is None or way.state.ended is None:
        raise Failure(f"the run {quote(name)} has not ended: 'stagec resume {name}' continues it")
    return way.finish(way.started)


class _Way:
    """Follows a run, event by event. What came to nothing is dropped, and the rest counted without it."""

    def __init__(self, program: Program) -> None:
        self._program, self.state = program, State()
        self.started: Started | None = None
        self.is_cancelled = False
        self._answered: list[Exchange] = []
        self._path: list[tuple[str, int]] = []
        self._dropped: dict[str, set[int]] = {}
        self._left: dict[str, None] = {}

    def take(self, event: Event, step: StepResult) -> None:
        """Note what an event says, and what follows."""
        match event:
            case Started():
                self.started = self.started or event
            case Answered() if event.key in self.state.pending:
                self._answered.append((self.state.pending[event.key], event.answer))
            case Resumed():
                self._reopen(step.state)
            case Replanned() if step.program is not None:
                self._change(event, step)
            case Cancelled():
                self.is_cancelled = self.is_cancelled or self.state.ended is None
            case _:
                pass
        self._path += ((each.node, each.visit) for each in step.moves if not each.run)
        self.state = step.state

    def _reopen(self, now: State) -> None:
        """Drop what stages did before a resumption that has not kept them; whoever ended the run did not."""
        for node, status in now.statuses.items():
            if status is not StageStatus.COMPLETED and node in self.state.past:
                self._dropped.setdefault(node, set()).update(range(1, self.state.past[node].visits + 1))
                self._left["what stages did before the run was resumed, unless it was kept"] = None
        self.is_cancelled = False

    def _change(self, event: Replanned, step: StepResult) -> None:
        """Go on under another plan, without what was broken off; its inputs are those that a run begins with."""
        self._program = step.program or self._program
        if self.started is not None:
            given = {**self.started.inputs, **event.inputs}
            known = {name: each for name, each in given.items() if name in self._program.plan.inputs}
            self.started = replace(self.started, inputs=known)
        self._left["the change of the plan: the test has only the last plan"] = None
        for each in step.moves:
            if each.outcome == "cancelled" and not each.run:
                self._dropped.setdefault(each.node, set()).add(each.visit)
                self._left["requests that were stopped when the plan changed"] = None

    def finish(self, started: Started) -> RecordedRun:
        """Return what counts of the run."""
        path = tuple(node for node, visit in self._path if visit not in self._dropped.get(node, ()))
        counting = tuple(self._list_exchanges(started.run))
        return RecordedRun(self._program, started, counting, self.state, path, tuple(self._left))

    def _list_exchanges(self, run: str) -> Iterator[Exchange]:
        """Yield the requests with their answers, by the numbers that executions have when none was dropped."""
        for effect, answer in self._answered:
            key = read_key(effect.key)
            dropped = self._dropped.get(key.node, set()) if run_of(effect.key) == run else set()
            if key.visit not in dropped:
                before = sum(each < key.visit for each in dropped)
                yield replace(effect, key=str(replace(key, visit=key.visit - before))), answer
