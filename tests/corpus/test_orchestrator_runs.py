"""The released orchestrator file of climpt 1.14 with its released agents, compiled and run.

Two things keep it from being compiled as it was released, and are mended first: its clarifier stops before it can give
a verdict and hands over to a work step; its iterator is not in the corpus, and another agent has its name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.core.json import Json
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Effect, Event, Program, Started, State, advance, load
from stagec.runtime.machine.exchange import Ask, Dispatch
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import find_program
from stagec.runtime.world.samples import make_sample

CORPUS = Path(os.environ.get("STAGEC_CORPUS", "absent"))
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
AGENTS = ("considerer", "detailer", "clarifier", "project-planner")
FIRST = "closure.clarify.scan-iterator-failure"


def lay_out(home: Path) -> None:
    """Write the orchestrator file and its agents as they lie in a project."""
    for agent in AGENTS:
        shutil.copytree(CORPUS / "agents" / f"{agent}-56d4a60", home / agent)
        for config in (home / agent / "_config").glob("*.yml"):
            (home / "climpt" / "config").mkdir(parents=True, exist_ok=True)
            shutil.copy(config, home / "climpt" / "config" / config.name)
    shutil.copy(CORPUS / "workflows" / "workflow-7cf14ef.json", home / "workflow.json")
    shutil.copytree(home / "project-planner", home / "iterator")
    for name in ("agent.json", "steps_registry.json"):
        replace_in(home / "iterator" / name, '"project-planner"', '"iterator"')
    replace_in(home / "clarifier" / "agent.json", '"maxIterations": 2', '"maxIterations": 6')
    registry = json.loads((home / "clarifier" / "steps_registry.json").read_text(encoding="utf-8"))
    step = registry["steps"][FIRST]
    step["transitions"]["next"] = step["transitions"].pop("handoff")
    step["structuredGate"] |= {"allowedIntents": ["next", "repeat"], "fallbackIntent": "next"}
    (home / "clarifier" / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    path = home / "clarifier" / "schemas" / "clarifier.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    schema[FIRST]["properties"]["next_action"]["properties"]["action"]["enum"] = ["next", "repeat"]
    path.write_text(json.dumps(schema), encoding="utf-8")


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Compile the project."""
    folder = tmp_path_factory.mktemp("released")
    home = folder / ".agent"
    lay_out(home)
    freezer = Freezer(load_configuration((home,), folder), (home,))
    made = {each.flow.id: freezer.freeze(each) for each in freezer.compilation.meanings}["workflow"]
    assert not isinstance(made, Refused), [each.message for each in freezer.errors]
    return load(made.data)


def play(program: Program, entry: str, answers: Iterator[Json] | None = None) -> tuple[list[Event], State]:
    """Run an issue: agents end as the answers say, or are run with answers that are made up."""
    inputs = {name: _give(program, name) for name, each in program.plan.inputs.items() if each.required}
    events: list[Event] = [Started("run", entry, inputs)]
    state = advance(program, State(), events[0]).state
    while state.ended is None:
        effect = next(iter(state.pending.values()))
        given = next(answers) if answers is not None and isinstance(effect, Dispatch) else _make_up(program, effect)
        events.append(Answered(effect.key, given))
        state = advance(program, state, events[-1]).state
        assert len(events) < 1_000
    return events, state


def _give(program: Program, name: str) -> Json:
    schema = program.plan.inputs[name].schema
    kind = None if schema is None else json.loads(program.plan.contents[schema]).get("type")
    return "text" if kind == "string" else 7


def _make_up(program: Program, effect: Effect) -> Json:
    if not isinstance(effect, Ask):
        return {}
    return {"answer": make_sample(find_program(program, effect.key), effect.schema, ())}


def moves(program: Program, events: list[Event]) -> list[str]:
    every = (move for _, step in advance_through(program, events) for move in step.moves if not move.run)
    return [f"{each.node} {each.outcome}" for each in every]


def test_an_issue_goes_through_several_agents_to_its_end(program: Program) -> None:
    verdicts: list[Json] = [
        {"answer": {"verdict": "handoff-detail", "final_summary": "Say more"}},
        {"answer": {"verdict": "handoff-impl"}},
        {"failed": "no time"},
        {"answer": {"verdict": "ready-to-impl"}},
        {"answer": {}},
    ]
    events, state = play(program, "kind:consider", iter(verdicts))
    assert (state.ended, state.reason) == (Outcome.DONE, "completed")
    assert moves(program, events) == [
        "consider-pending handoff-detail",
        "detail-pending handoff-impl",
        "impl-pending failed",
        "blocked ready-to-impl",
        "impl-pending success",
        "done completed",
    ]
    assert state.issue is not None
    assert (state.issue.labels, state.issue.is_closed) == (("done",), True)


def test_a_clarifier_that_never_makes_up_its_mind_is_stopped(program: Program) -> None:
    undecided: Json = {"answer": {"verdict": "unclear"}}
    _, state = play(program, "need clearance", iter([undecided] * 9))
    assert state.failure is not None
    assert (state.failure.kind, state.executions) == (FailureKind.REPETITION, 3)


@pytest.mark.parametrize("entry", ["kind:consider", "kind:detail", "need clearance", "kind:impl", "kind:plan", "done"])
def test_the_agents_run_to_an_end_from_every_label(program: Program, entry: str) -> None:
    events, state = play(program, entry)
    kind = None if state.failure is None else state.failure.kind
    assert kind in {None, FailureKind.CYCLES, FailureKind.REPETITION}, state.reason
    assert len(list(advance_through(program, events))) == len(events)
