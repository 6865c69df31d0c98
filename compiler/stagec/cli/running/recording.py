"""Turn the journal of a run into a test of its flow: `stagec runs record`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from stagec.cli.files import STDIN, create_files
from stagec.cli.running.inputs import load_program
from stagec.cli.running.recorded_way import RecordedRun, read_way
from stagec.cli.streams import put, say
from stagec.core.canonical import canonical
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place
from stagec.core.secrets import Redactor
from stagec.core.words import format_count, listing, quote
from stagec.drivers.following import StoredHistory
from stagec.drivers.local.play import play
from stagec.drivers.redaction import redact_value
from stagec.flow_tests.document import ENDINGS, FlowTest, is_flow_test
from stagec.flow_tests.execution import Observation, run_test
from stagec.flow_tests.paths.path_set import name_path
from stagec.flow_tests.scenario_writing import list_told, write_scenario
from stagec.flow_tests.writing import WrittenTest, write_flow_tests
from stagec.plan.act import Process
from stagec.runtime import Answered
from stagec.runtime.exchange import Event
from stagec.world.agents_world import script_world
from stagec.world.local_world import ClosedWorld
from stagec.world.scenario import Scenario, parse_scenario

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
        """Return a test without secrets that does what a run did, and what of the run is not in it."""
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
        """Return what must come of a run; what stages publish is nothing that a scenario could say."""
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
