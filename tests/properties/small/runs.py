"""Small projects run with their answers: what has no errors routes, starts and completes; errors come true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from properties.small.project import SmallProject

from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.core.diagnostic import Diagnostic
from stagec.core.value import value
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Program, Started, State, advance, load
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Confirm,
    Effect,
    Grant,
    Hook,
    Judge,
    Run,
    Shell,
    Turn,
    read_agent_run,
    read_key,
)
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import program_of

Json = Any
_LONG = 3_000
"""Events of a run, which all runs are far from."""
_GOOD = frozenset({Outcome.DONE, Outcome.BLOCKED})
"""How runs end that do what they are meant to: a phase may leave its issue to a person."""
_SOON = 0.5
_PATIENT = 150
"""Runs in which one that completes is sought."""
_BARRED = frozenset(
    {
        FailureKind.NO_EDGE,
        FailureKind.SMALL_FORK,
        FailureKind.UNFIT_START,
        FailureKind.UNSTARTABLE,
        FailureKind.UNROUTED,
        FailureKind.AGENT_UNFIT,
        FailureKind.INVALID_ANSWER,
        FailureKind.NO_INTENT,
    }
)
"""Failures that nothing but a mistake of the project causes, in a world that answers as it must."""


_ANYTHING: list[Json] = [{}, {"text": "DONE"}, {"status": "completed"}]
"""Answers of a step without a schema."""


class SmallWorld:
    """Answers what satisfies schemas, and otherwise all that a model, a person or a callable may say."""

    def __init__(self, chance: Random, project: SmallProject) -> None:
        self._chance, self._project = chance, project
        self.calm = chance.random()
        """How often everything goes well."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        chance, says = self._chance, dict[str, Json]()
        match effect:
            case Ask():
                says = {"answer": self._choose(effect.key), "text": "Done."}
            case Turn():
                submits = chance.random() < self.calm or chance.random() < _SOON
                call = {"id": "c", "tool": effect.completion, "arguments": self._choose(effect.key)}
                says = {"calls": [call]} if submits else {"text": "Let me think."}
            case Run() | Shell():
                says = {"exit": int(chance.random() > max(self.calm, _SOON)), "stdout": "", "stderr": ""}
            case Judge():
                says = {"done": chance.random() < _SOON}
            case Call():
                says = {"value": "text"}
            case Grant():
                says = {"granted": True}
            case Confirm():
                says = {"yes": chance.random() < _SOON}
            case Hook():
                says = {"value": self._call(effect)}
        return says

    def _choose(self, key: str) -> Json:
        return self._chance.choice(self._project.answers.get(_name_node(key), _ANYTHING))

    def _call(self, effect: Hook) -> Json:
        values: Mapping[str, tuple[Json, ...]] = {
            "setup": (None, {}),
            "gate": (None, "proceed", "proceed", "defer", "block"),
            "assert": (None, "ok", "ok", "retry", "fail"),
            "exit": (None, {"digest": 1}, "text"),
        }
        return self._chance.choice(values[effect.phase])


def _name_node(key: str) -> str:
    """Return how a project calls the node of a request: a step in the run of an agent by both names."""
    agent = read_agent_run(read_key(key).run)
    return read_key(key).node if agent is None else f"{agent.agent}:{read_key(key).node}"


class Judged:
    """What came of projects: counts, what is wrong, what was told of before it failed, and errors that no run shows."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.told: list[str] = []
        """Failures of projects without errors, of which something else is told, with its codes."""
        self.unshown: list[str] = []
        """Errors alone in their project that no run shows."""


def judge_project(project: SmallProject, chance: Random, seen: Judged, runs: int, label: str) -> None:
    """Compile a project, and run it."""
    with TemporaryDirectory() as folder:
        project.write(Path(folder))
        freezer = Freezer(load_configuration((Path(folder),), Path(folder)), (Path(folder),))
        seen.counts["projects"] += 1
        told = freezer.compilation.diagnostics
        codes = {each.code for each in freezer.errors}
        seen.counts.update(f"error {each}" for each in codes)
        meanings = freezer.compilation.meanings
        if codes:
            if len(codes) == 1 and meanings and min(codes) >= "STG2":
                plan = _find_main([each.plan() for each in meanings])
                if not _some_fails(plan, project, chance):
                    seen.unshown.append(f"{label}: {[f'{each.code} {each.message}' for each in freezer.errors]}")
                seen.counts["with one error"] += 1
            return
        if not meanings:
            return
        seen.counts["without errors"] += 1
        plans = list[Frozen]()
        for each in map(freezer.freeze, meanings):
            if isinstance(each, Refused):
                seen.wrong.append(f"{label}: no plan: {each.reason}")
                return
            plans.append(each)
        main = max(plans, key=lambda each: len(each.plan.plans))
        _run_often(Trial(load(main.data), project, chance), told, seen, runs, label)


@value
class Trial:
    """A program that is run with the answers of its project."""

    program: Program
    project: SmallProject
    chance: Random

    def play(self, entry: str) -> tuple[State, list[str]]:
        """Play a run to its end."""
        return play(self.program, self.project, self.chance, entry)


def _find_main(plans: list[Plan]) -> Plan:
    return max(plans, key=lambda each: len(each.plans))


def _run_often(trial: Trial, told: Iterable[Diagnostic], seen: Judged, runs: int, label: str) -> None:
    codes = sorted({f"{each.code} {each.severity}" for each in told})
    entries, found, done = [*trial.program.plan.entries], dict[str, str](), set[str]()
    for _ in range(runs):
        entry = trial.chance.choice(entries)
        state, causes = trial.play(entry)
        seen.counts["runs"] += 1
        seen.counts[f"end {state.ended}"] += 1
        if state.ended in _GOOD:
            done.add(entry)
        for each in causes:
            found.setdefault(each.partition(": ")[0], each)
    for entry in {*entries} - done:
        if not any(trial.play(entry)[0].ended in _GOOD for _ in range(_PATIENT)):
            found[entry] = f"no completed run from {entry}"
    for each in found.values():
        if codes:
            seen.told.append(f"{label}: {each[:150]} | {' '.join(codes)}")
        else:
            seen.wrong.append(f"{label}: {each}")


def play(program: Program, project: SmallProject, chance: Random, entry: str) -> tuple[State, list[str]]:
    """Play a run to its end, and return the last state with what went wrong that may not."""
    world, causes = SmallWorld(chance, project), list[str]()
    given = {
        name: chance.choice(project.given[name])
        for name, each in program.plan.inputs.items()
        if each.required or (name in project.given and (program.plan.phases is None or chance.random() < 0.5))
    }
    step = advance(program, State(), Started("run", entry, given))
    for _ in range(_LONG):
        for each in step.trace:
            if each.name == "StageInitFailed":
                causes.append(f"init of {each.facts.get('stageId')}: {each.facts.get('reason')}")
        if step.state.ended is not None:
            break
        key = chance.choice(list(step.state.pending))
        step = advance(program, step.state, Answered(key, world.answer(step.state.pending[key])))
    else:
        causes.append("endless: no end")
    failure = step.state.failure
    if failure is not None and failure.kind in _BARRED:
        causes.append(f"{failure.kind} {failure.node}: {step.state.reason}")
    return step.state, causes


def _some_fails(plan: Plan, project: SmallProject, chance: Random) -> bool:
    """Tell whether a run of a plan with an error fails, or none completes, or none comes to some node."""
    done, good = set[str](), set[str]()
    try:
        program = program_of(plan)
        for _ in range(_PATIENT):
            entry = chance.choice([*plan.entries])
            state, causes = play(program, project, chance, entry)
            if causes:
                return True
            if state.ended in _GOOD:
                done.add(entry)
                good |= {*state.past}
    except (LookupError, ValueError, TypeError, AttributeError, AssertionError):  # a plan with errors may be broken
        return True
    return done != {*plan.entries} or bool(plan.nodes.keys() - good)


def campaign(make: Callable[[Random], SmallProject], name: str, seeds: Iterable[int], runs: int) -> Judged:
    """Make and judge a project for each seed."""
    seen = Judged()
    for seed in seeds:
        chance = Random(f"{name} {seed}")  # noqa: S311
        judge_project(make(chance), chance, seen, runs, f"{name} {seed}")
    return seen
