"""Turn the journal of a run into a test of its flow: `stagec runs record`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.change.flow_tests.document import ENDINGS, FlowTest, WrittenTest, is_flow_test, write_flow_tests
from stagec.change.flow_tests.execution import Observation, run_test
from stagec.change.flow_tests.paths.finder import name_path
from stagec.change.flow_tests.scenario_writing import Exchange, list_told, write_scenario
from stagec.cli.files import STDIN, create_files
from stagec.cli.running.inputs import load_program
from stagec.cli.streams import put, say
from stagec.core.canonical import canonical
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan.act import Process
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.following import StoredHistory
from stagec.runtime.drivers.history import list_branch
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.drivers.redaction import redact_value
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Cancelled, Program, Started, State, StepResult
from stagec.runtime.machine.exchange import Event, Replanned, Resumed, read_key, run_of
from stagec.runtime.world.composed import script_world
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.scenario import Scenario, parse_scenario


@value
class RecordedRun:
    """The run in a journal: its beginning, the requests with their answers, its end, and the agents that it ran.

    `program` is that of the plan that it ended with; `left` says what of the journal is not in it.
    """

    program: Program
    started: Started
    answered: tuple[Exchange, ...]
    ended: State
    path: tuple[str, ...]
    left: tuple[str, ...] = ()


def read_way(program: Program, events: tuple[Event, ...], name: str) -> RecordedRun:
    """Return the present branch of a journal; raise `Failure` for a run that no test can repeat."""
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
        """Return the recorded run."""
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


_SHOWN = 20
"""Answers that are named one by one where a scenario cannot say them."""


def record(run: str, stored: StoredHistory, output: Path | None) -> None:
    """Write a run as a test; what a test cannot say is named on standard error."""
    if output not in {None, STDIN} and not is_flow_test(str(output)):
        raise Failure(f"{quote(output)} is not a file of tests: its name must end in {listing(ENDINGS, 'or')}")
    history = stored.history
    program = load_program(history.plan, f"the plan of run {quote(run)}")
    found = read_way(program, history.events, run)
    test, notes = RunRecording(found, run).make_test()
    text = write_flow_tests(found.program.plan.id, [test], (f"recorded from the run {run}", *notes))
    if output is None or output == STDIN:
        put(text)
    else:
        parent, name = os.path.split(output)
        create_files(Path(parent or os.curdir), {name: text.encode()}, "name another file, or remove this one")
        say(f"stagec: {output}: the run {run} as a test; 'stagec test {output}' runs it")
    for note in notes:
        say(f"stagec: not in the test: {note}")


class RunRecording:
    """A run that is to become a test: what is known of it, and its name."""

    def __init__(self, run: RecordedRun, name: str) -> None:
        self._program, self._run, self._name = run.program, run, name

    def make_test(self) -> tuple[WrittenTest, tuple[str, ...]]:
        """Return a test that repeats a run, without secrets, and the parts of the run that it lacks."""
        program, run, name = self._program, self._run, self._name
        written = write_scenario(program.plan, run.started, run.answered)
        told = object_of(redact_value(Redactor(os.environ), dict(written), is_output=True))
        scenario = parse_scenario(dict(told), f"the scenario of {name}")
        observed = run_test(program, FlowTest("", Place(""), scenario))
        if observed.trouble is not None:
            raise Failure(f"the run {quote(name)} cannot be written as a scenario: {observed.trouble}", Exit.FINDINGS)
        if observed.outcome != str(run.ended.ended) or Counter(observed.path) != Counter(run.path):
            takes = f"it ends as {observed.outcome} by {' → '.join(observed.path)}"
            first = next((each for each in (*self._list_differences(scenario), *run.left) if each), "")
            raise Failure(f"no scenario repeats the run {quote(name)}: {takes}; {first}", Exit.FINDINGS)
        notes = [*run.left, *self._list_differences(scenario)]
        if told != written:
            notes.append("secrets: they are [redacted]")
        if observed.path != run.path:
            notes.append("the order in which parallel nodes ended")
        if len(notes) > _SHOWN:
            notes[_SHOWN:] = [f"and {format_count(len(notes) - _SHOWN, 'more answer')}"]
        return WrittenTest(name_path(observed), told, self._expect(observed)), tuple(notes)

    def _expect(self, observed: Observation) -> Object:
        """Return the expectations of a run, without published files, which no scenario can contain."""
        nodes = self._program.plan.nodes
        results = {name: each for name, each in observed.results.items() if not isinstance(nodes[name].act, Process)}
        expected: Mapping[str, Json] = {
            "outcome": observed.outcome,
            "path": list(observed.path),
            "calls": dict(sorted(observed.calls.items())),
            "turns": observed.turns,
            "executions": observed.executions,
            "results": results,
        }
        return {name: each for name, each in expected.items() if each != {}}

    def _list_differences(self, scenario: Scenario) -> Iterator[str]:
        """Yield the answers that the world of a scenario gives otherwise than the world of a run did."""
        given: dict[str, Json] = {}

        def observe(event: Event, _step: object) -> None:
            if isinstance(event, Answered):
                given[event.key] = event.answer

        program, run = self._program, self._run
        play(program, script_world(scenario, program.agents, ClosedWorld()), run.started, observe)
        for effect, answer in run.answered:
            told = [*list_told(effect, object_of(answer))]
            if effect.key not in given:
                yield f"{effect.key}: it is not asked for again" if told else ""
            elif canonical(told) != canonical([*list_told(effect, object_of(given[effect.key]))]):
                yield f"{effect.key}: {type(effect).__name__.lower()} is answered differently"
