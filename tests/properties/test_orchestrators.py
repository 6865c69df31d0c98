"""Random orchestrators with random outcomes: a run always ends, for a reason that its file and its agents give."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from campaigns import choose
from orchestrated import answer_steps, write_orchestrator

from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.core.json import Json
from stagec.ir.plan.act import Delegate
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Effect, Event, Program, Started, State, advance, load
from stagec.runtime.machine.exchange import Ask, Close, Comment, Dispatch, Relabel, read_key
from stagec.runtime.machine.failures import FailureKind

AGENTS = ("first", "second", "third")
VERDICTS = ("ok", "bad", "odd", "otherwise", "failed", "success")
PROJECTS = choose(6, whole=60)
RUNS = choose(25, whole=200)
ALLOWED = {
    None,
    FailureKind.CYCLES,
    FailureKind.REPETITION,
    FailureKind.UNROUTED,
    FailureKind.PHASE_BLOCKED,
    FailureKind.ISSUE,
}
"""Why runs of orchestrators may end that validate without errors; no other failure comes of routing."""


def make_performer(chance: random.Random, names: Sequence[str]) -> dict[str, Any]:
    """Make what an orchestrator file says of an agent."""
    verdicts = chance.sample(VERDICTS, chance.randint(1, 4))
    table = {verdict: chance.choice(names) for verdict in verdicts}
    if chance.random() < 0.5:
        body: dict[str, Any] = {"role": "validator", "outputPhases": table}
    else:
        body = {"role": "transformer", "outputPhase": chance.choice(names)}
        body |= {"fallbackPhases": table} if chance.random() < 0.5 else {}
    if chance.random() < 0.7:
        body["fallbackPhase"] = chance.choice(names)
    return {**body, "closeBinding": {"primary": {"kind": chance.choice(("direct", "none", "boundary"))}}}


def make_workflow(chance: random.Random) -> dict[str, Any]:
    """Make an orchestrator file of up to five phases in which agents work; labels mean every phase."""
    working = [f"work {number}" for number in range(chance.randint(1, 5))]
    ends = {"done": "terminal", "stuck": "blocking", "given up": "terminal"}
    phases = {name: {"type": "actionable", "priority": 1, "agent": chance.choice(AGENTS)} for name in working}
    names = [*working, *ends]
    agents = {agent: make_performer(chance, names) for agent in AGENTS}
    rules = {"maxCycles": chance.randint(2, 8), "cycleDelayMs": chance.choice((0, 5))}
    rules |= {"maxConsecutivePhases": chance.randint(0, 3)}
    comments = {f"{agent}Ok": "{summary} by {nobody}" for agent in AGENTS}
    return {
        "version": "1.0.0",
        "issueSource": {"kind": "ghRepoIssues"},
        "phases": {**phases, **{name: {"type": kind} for name, kind in ends.items()}},
        "labelMapping": {f"label {name}": name for name in names},
        "agents": agents,
        "handoff": {"commentTemplates": comments},
        "rules": rules,
    }


def answer(chance: random.Random, effect: Effect, program: Program) -> Json:
    """Return what a world might answer; agents are run half the time, and then answer as their schemas allow."""
    verdict = chance.choice((*VERDICTS, "unheard", None))
    if isinstance(effect, Ask):
        return {"answer": answer_steps(verdict)[read_key(effect.key).node]}
    if isinstance(effect, Dispatch):
        said = {} if verdict is None else {"verdict": verdict}
        return chance.choice(({}, {}, {"answer": said}, {"failed": True, "answer": said}, {"failed": "no"}))
    is_written = isinstance(effect, Relabel | Comment | Close)
    return {"error": "no"} if is_written and chance.random() < 0.05 else {}


def play(chance: random.Random, program: Program) -> tuple[list[Event], State]:
    """Play a run to its end."""
    entry = chance.choice([*program.plan.entries])
    events: list[Event] = [Started("run", entry, {"issue": 7})]
    state = advance(program, State(), events[0]).state
    while state.ended is None:
        effect = next(iter(state.pending.values()))
        events.append(Answered(effect.key, answer(chance, effect, program)))
        state = advance(program, state, events[-1]).state
        assert len(events) < 2_000
    return events, state


def list_phases(program: Program, events: list[Event]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for _, step in advance_through(program, events):
        yield from ((each.node, each.outcome, each.to) for each in step.moves if not each.run)


@pytest.mark.parametrize("seed", range(PROJECTS))
def test_a_run_of_an_orchestrator_never_fails_to_route(tmp_path: Path, seed: int) -> None:
    chance = random.Random(f"orchestrator {seed}")  # noqa: S311
    workflow = make_workflow(chance)
    home = write_orchestrator(tmp_path, workflow, AGENTS)
    freezer = Freezer(load_configuration((home,), tmp_path), (home,))
    made = {each.flow.id: freezer.freeze(each) for each in freezer.compilation.meanings}["workflow"]
    if isinstance(made, Refused):  # what is wrong with it, a rule says
        assert any(each.severity == "error" for each in freezer.compilation.diagnostics), made.reason
        return
    program = load(made.data)
    for _ in range(RUNS):
        events, state = play(chance, program)
        kind = None if state.failure is None else state.failure.kind
        assert kind in ALLOWED, state.reason
        assert state.ended is _ends_as(kind), state.reason
        if kind is FailureKind.UNROUTED:
            assert (
                "fallbackPhase" not in workflow["agents"][_agent_of(program, str(state.failure and state.failure.node))]
            )
        _compare(workflow, program, list(list_phases(program, events)), state)


def _ends_as(kind: FailureKind | None) -> Outcome:
    if kind is None:
        return Outcome.DONE
    return Outcome.BLOCKED if kind in {FailureKind.PHASE_BLOCKED, FailureKind.ISSUE} else Outcome.FAILED


def _agent_of(program: Program, phase: str) -> str:
    act = program.plan.nodes[phase].act
    assert isinstance(act, Delegate)
    return act.agent


def _compare(
    workflow: Mapping[str, Any], program: Program, moves: list[tuple[str, str, tuple[str, ...]]], state: State
) -> None:
    """Look whether every transition is one that the file has, and whether bounds were kept."""
    rules, taken = workflow["rules"], [each for each in moves if each[2]]
    assert len(taken) <= rules["maxCycles"]
    for phase, outcome, (target,) in taken:
        body = workflow["agents"][_agent_of(program, phase)]
        table = {**body.get("outputPhases", {}), **body.get("fallbackPhases", {})}
        if "outputPhase" in body:
            table["success"] = body["outputPhase"]
        assert target == table.get(outcome, body.get("fallbackPhase"))
    row = rules["maxConsecutivePhases"]
    targets = [target for _, _, (target,) in taken]
    runs = [targets[at : at + row + 1] for at in range(len(targets) - row)] if row else []
    assert not any(len({*each}) == 1 for each in runs)
    assert state.issue is not None
    refused = state.failure is not None and state.failure.kind in {FailureKind.CYCLES, FailureKind.REPETITION}
    assert state.issue.transitions == len(taken) + refused  # the last one leads to where nothing begins any more
