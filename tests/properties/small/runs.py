"""Small projects run with their answers: what has no errors routes, starts and completes; what has one fails somehow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from properties.small.project import SmallProject

from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.plan.document import Plan
from stagec.plan.node import Outcome
from stagec.runtime import Answered, Program, Started, State, advance, load
from stagec.runtime.exchange import Ask, Call, Confirm, Effect, Grant, Hook, Judge, Run, Shell, Turn, read_key
from stagec.runtime.failures import FailureKind
from stagec.runtime.program import program_of

Json = Any
_LONG = 3_000
"""Events of a run, which all runs are far from."""
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
        chance = self._chance
        match effect:
            case Ask():
                return {"answer": self._choose(effect.key), "text": "Done."}
            case Turn():
                if chance.random() < self.calm or chance.random() < 0.5:
                    return {"calls": [{"id": "c", "tool": effect.completion, "arguments": self._choose(effect.key)}]}
                return {"text": "Let me think."}
            case Run() | Shell():
                return {"exit": int(chance.random() > max(self.calm, 0.5)), "stdout": "", "stderr": ""}
            case Judge():
                return {"done": chance.random() < 0.5}
            case Call():
                return {"value": "text"}
            case Grant():
                return {"granted": True}
            case Confirm():
                return {"yes": chance.random() < 0.7}
            case Hook():
                return {"value": self._call(effect)}
            case _:
                return {}

    def _choose(self, key: str) -> Json:
        return self._chance.choice(self._project.answers.get(_name_agent_node(key), _ANYTHING))

    def _call(self, effect: Hook) -> Json:
        values: Mapping[str, tuple[Json, ...]] = {
            "setup": (None, {}),
            "gate": (None, "proceed", "proceed", "defer", "block"),
            "assert": (None, "ok", "ok", "retry", "fail"),
            "exit": (None, {"digest": 1}, "text"),
        }
        return self._chance.choice(values[effect.phase])


def _name_agent_node(key: str) -> str:
    """Return how a project calls the node of a request: in the run of an agent, after the agent."""
    return read_key(key).node


class Judged:
    """What came of projects: counts, what is wrong, and errors that no run shows."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.told: Counter[str] = Counter()
        """Failures of projects without errors, of which something is told, with the codes."""
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
        made = [freezer.freeze(each) for each in meanings]
        for each in made:
            if isinstance(each, Refused):
                seen.wrong.append(f"{label}: no plan: {each.reason}")
                return
        frozen = max(made, key=lambda each: len(each.plan.plans))  # type: ignore[union-attr]
        _run_often(load(frozen.data), project, told, chance, seen, runs, label)  # type: ignore[union-attr]


def _find_main(plans: list[Plan]) -> Plan:
    return max(plans, key=lambda each: len(each.plans))


def _run_often(
    program: Program,
    project: SmallProject,
    told: tuple[Diagnostic, ...],
    chance: Random,
    seen: Judged,
    runs: int,
    label: str,
) -> None:
    codes = sorted({f"{each.code}{each.severity[0]}" for each in told})
    found, done = dict[str, str](), set[str]()
    for _ in range(runs):
        entry = chance.choice([*program.plan.entries])
        state, causes = play(program, project, chance, entry)
        seen.counts["runs"] += 1
        seen.counts[f"end {state.ended}"] += 1
        if state.ended is Outcome.DONE:
            done.add(entry)
        for each in causes:
            found.setdefault(each.partition(": ")[0], each)
    for entry in program.plan.entries.keys() - done:
        for _ in range(5 * runs):
            if play(program, project, chance, entry)[0].ended is Outcome.DONE:
                break
        else:
            found["incomplete"] = f"no completed run from {entry}"
    for key, each in found.items():
        if codes:
            seen.told[f"{each[:90]} | {' '.join(codes)}"] += 1
            seen.told["!"] += 0
            seen.counts["failing with something told"] += 1
            seen.told_of.append(f"{label}: {each[:150]} | {' '.join(codes)}")  # type: ignore[attr-defined]
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
        for _ in range(150):
            entry = chance.choice([*plan.entries])
            state, causes = play(program, project, chance, entry)
            if causes:
                return True
            if state.ended is Outcome.DONE:
                done.add(entry)
                good |= {*state.past}
    except Exception:  # whatever a plan with errors may raise
        return True
    return done != {*plan.entries} or bool(plan.nodes.keys() - good)


def campaign(make: Callable[[Random], SmallProject], name: str, seeds: Iterator[int] | range, runs: int) -> Judged:
    """Make and judge a project for each seed."""
    seen = Judged()
    seen.told_of = []  # type: ignore[attr-defined]
    for seed in seeds:
        chance = Random(f"{name} {seed}")  # noqa: S311
        judge_project(make(chance), chance, seen, runs, f"{name} {seed}")
    return seen
