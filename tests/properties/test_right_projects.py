"""No false alarm: random projects that are right by construction have no finding, and none of their runs is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from properties.right.agents import make_registry
from properties.right.orchestrators import make_orchestrator
from properties.right.pipelines import make_pipeline
from properties.right.stage_plans import make_stage_plan
from properties.soundness.runs import Tried
from properties.soundness.stage_runs import StageRun
from properties.soundness.worlds import given

from stagec.change.flow_tests.paths.choices import list_verdicts
from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.ir.plan.document import Plan
from stagec.runtime.machine import Answered, Program, Started, State, advance
from stagec.runtime.machine.exchange import Dispatch
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.program import program_of
from stagec.sources.project.settings import Settings

PIPELINES = choose(8, full=14, whole=300)
STAGE_PLANS = choose(8, full=24, whole=300)
REGISTRIES = choose(4, full=12, whole=300)
ORCHESTRATORS = choose(2, full=6, whole=300)
RUNS = 3
STOPPED = {FailureKind.CYCLES, FailureKind.REPETITION, FailureKind.PHASE_BLOCKED}
"""Why runs of an orchestrator end without completing: its bounds, and phases that are meant to."""


def compile_right(folder: Path, files: dict[str, str]) -> tuple[Plan, ...]:
    """Write a project, show that nothing is found in it, and return its plans."""
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    compilation = compile_project(Project(folder, (folder,), Settings()), search_briefly)
    told = [each for each in compilation.diagnostics if each.severity in {Severity.ERROR, Severity.WARNING}]
    assert not told, told
    found = tuple(meaning.plan() for meaning in compilation.meanings)
    assert found
    return found


def show_that_runs_route(program: Program, seed: str) -> None:
    """Play runs, none of which may come to where no edge leads on."""
    known: dict[str | None, list[object]] = {}
    for run in range(RUNS):
        failure = Tried(program, Random(f"{seed} {run}"), Counter(), known).run().failure
        assert failure is None or failure.kind is not FailureKind.NO_EDGE, failure


@pytest.mark.parametrize("seed", range(PIPELINES))
def test_a_right_pipeline_has_no_finding_and_routes(tmp_path: Path, seed: int) -> None:
    for plan in compile_right(tmp_path, make_pipeline(Random(seed))):
        show_that_runs_route(program_of(plan), str(seed))


@pytest.mark.parametrize("release", ["1.13", "1.14"])
@pytest.mark.parametrize("seed", range(REGISTRIES // 2))
def test_a_right_registry_has_no_finding_and_routes(tmp_path: Path, seed: int, release: str) -> None:
    for plan in compile_right(tmp_path, make_registry(Random(seed), release)):
        show_that_runs_route(program_of(plan), str(seed))


@pytest.mark.parametrize("seed", range(STAGE_PLANS))
def test_a_right_stage_plan_has_no_finding_and_its_runs_end(tmp_path: Path, seed: int) -> None:
    for plan in compile_right(tmp_path, make_stage_plan(Random(seed))):
        for run in range(RUNS):
            StageRun(program_of(plan), Random(f"{seed} {run}"), Counter(), rude=False).play()


@pytest.mark.parametrize("seed", range(ORCHESTRATORS))
def test_a_right_orchestrator_has_no_finding_and_routes(tmp_path: Path, seed: int) -> None:
    for plan in compile_right(tmp_path, make_orchestrator(Random(seed))):
        program = program_of(plan)
        if plan.phases is None:
            show_that_runs_route(program, str(seed))
            continue
        for run in range(RUNS):
            state = play_phases(program, Random(f"{seed} {run}"))
            assert state.failure is None or state.failure.kind in STOPPED, state.reason


def play_phases(program: Program, random: Random) -> State:
    """Play a run in which agents end somehow; their own plans are played by themselves."""
    entry = random.choice([*program.plan.entries])
    state = advance(program, State(), Started("run", entry, given(random, program.plan))).state
    while state.ended is None:
        effect = random.choice([*state.pending.values()])
        answer: Json = {}
        if isinstance(effect, Dispatch):
            said = random.choice((*list_verdicts(program.plan, effect.agent), "success", "unheard"))
            answer = random.choice(({"answer": {"verdict": said}}, {"failed": True}))
        state = advance(program, state, Answered(effect.key, answer)).state
    return state
