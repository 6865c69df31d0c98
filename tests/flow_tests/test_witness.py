"""Witnesses: the machine completes them, none is shorter, and flows without one are accused by no false alarm."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from campaigns import choose
from frontends.stages.freezing.test_random_pipelines import covered, meaning_of
from orchestrated import write_orchestrator
from random_steps import make_graph, make_plan, make_tree

from stagec.change.flow_tests.coverage import CoveredPart
from stagec.change.flow_tests.document import FlowTest
from stagec.change.flow_tests.execution import run_test
from stagec.change.flow_tests.paths.finder import PathFinder
from stagec.change.flow_tests.witness import LONG, search_briefly
from stagec.change.flow_tests.witness.search import Witness, find_witnesses
from stagec.change.flow_tests.witness.survey import survey
from stagec.check.pipeline import Project, compile_project
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.ir.flow import LostEntry
from stagec.ir.plan.node import Edge, Stop
from stagec.runtime.machine import Program
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.scenario import parse_scenario
from stagec.sources.project.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "registries"


def search(program: Program) -> list[Witness | LostEntry]:
    return [*find_witnesses(program, LONG)]


def check_witness(program: Program, found: Witness | LostEntry) -> None:
    """Check that the scenario of a witness is completed in as many executions as it says."""
    assert isinstance(found, Witness), found
    scenario = parse_scenario(dict(found.write_scenario(program.plan)), "the scenario")
    observed = run_test(program, FlowTest("", Place(""), scenario))
    assert (observed.outcome, len(observed.path)) == ("done", found.executions)


def measure_shortest(program: Program, entry: str) -> int | None:
    """Return the executions of the shortest completed run among all positions, without any hint where to look."""
    finder = PathFinder(program, entry=entry)
    found = finder.walker.find(lambda arc: arc.outcome == "done")
    return None if found is None else found.state.executions


def find_parts(program: Program) -> set[CoveredPart]:
    """Return what the search for paths comes to."""
    graph = PathFinder(program).graph
    arcs = [*graph.first, *(arc for arcs in graph.arcs for arc in arcs)]
    return {item for arc in arcs for item in arc.items if isinstance(item, CoveredPart)}


def is_way_on(edge: Edge) -> bool:
    return not isinstance(edge.target, Stop) or edge.target.outcome == "done"


def programs_of(folder: Path) -> Iterator[Program]:
    compiled = compile_project(Project(folder, (folder,), Settings()))
    yield from (program_of(each.plan()) for each in compiled.meanings if each.has_plan)


@pytest.mark.parametrize("name", ["code-review", "docs-repair", "issue-flow", "project-flow", "wine-quality"])
def test_examples_have_a_witness_for_each_entry(name: str) -> None:
    for program in programs_of(EXAMPLES / name):
        for found in search(program):
            check_witness(program, found)


@pytest.mark.parametrize("seed", range(choose(12, whole=300)))
def test_witnesses_of_random_graphs_are_as_short_as_an_exhaustive_search_finds(seed: int) -> None:
    random = Random(seed)
    arcs = make_tree(random, 4 + seed % 20) if seed % 3 == 0 else make_graph(random, 4 + seed % 20, 3 + seed % 30)
    program = program_of(make_plan(arcs))
    for found in search(program):
        shortest = measure_shortest(program, found.entry)
        if shortest is None:
            assert isinstance(found, LostEntry)
        else:
            check_witness(program, found)
            assert isinstance(found, Witness)
            assert found.executions == shortest


def test_phases_have_a_witness_that_runs_their_agents(tmp_path: Path) -> None:
    write_orchestrator(tmp_path)
    programs = [each for each in programs_of(tmp_path) if each.agents]
    for program in programs:
        for found in search(program):
            check_witness(program, found)
    assert programs


def test_a_bound_below_the_shortest_run_refutes_it() -> None:
    (program,) = programs_of(EXAMPLES / "issue-flow")
    (whole,) = search(program)
    assert isinstance(whole, Witness)
    plan = replace(program.plan, limits=replace(program.plan.limits, executions=whole.executions - 1))
    (found,) = search(program_of(plan))
    assert isinstance(found, LostEntry)
    assert (found.kind, found.open) == ("bound-reached", "")


def _count_calls(folder: Path, count: int) -> int:
    """Return in how many calls of its own the search finds a run of as many stages that wait for one another."""
    names = [f"S{at:04}_make" for at in range(count)]
    envelope = {"goal": "Make it.", "run": ["make"], "inputs": {}, "outputs": {}, "dependencies": []}
    stages = [{**envelope, "stageId": name} for name in names]
    last = {**envelope, "stageId": "S9999_join", "dependencies": names}
    folder.mkdir()
    plan = {"reportTitle": "wide", "runId": "run-001", "stages": [*stages, last]}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (program,) = programs_of(folder)
    calls = 0

    def note(frame: FrameType, event: str, _given: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_globals is find_witnesses.__globals__

    sys.setprofile(note)
    try:
        (found,) = search(program)
    finally:
        sys.setprofile(None)
    assert isinstance(found, Witness)
    assert found.executions == count + 1
    return calls


def test_what_waits_is_not_looked_at_again_at_every_step(tmp_path: Path) -> None:
    assert _count_calls(tmp_path / "more", 120) < 2.5 * _count_calls(tmp_path / "few", 60)


def test_a_search_that_may_make_few_steps_says_so() -> None:
    (program,) = programs_of(EXAMPLES / "issue-flow")
    (found,) = find_witnesses(program, 2)
    assert isinstance(found, LostEntry)
    assert found.is_given_up


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_cases_of_the_corpus_in_which_no_run_completes_are_accused() -> None:
    """These are the cases of which a search is the only proof."""
    root = Path(os.environ["STAGEC_CORPUS"]) / "promise"
    wanted = [
        "03-empty-chain",
        "04-consecutive-1",
        "05-gate-always-blocks",
        "12-context-unsatisfiable",
        "13-count-check-beyond-bound",
        "14-judge-never-satisfied",
        "16-exit-hook-hides-dead-end",
        "s4-g-pair-bound-below",
        "s4-r23-count_iteration3",
    ]
    for name in wanted:
        found = compile_project(Project(root / name, (), Settings()), search_briefly).diagnostics
        assert [each.severity for each in found if each.severity == "error"], name


@pytest.mark.parametrize("chunk", range(choose(1, whole=40)))
def test_no_other_search_comes_to_what_random_pipelines_are_accused_of(chunk: int, tmp_path: Path) -> None:
    for seed in range(15 + chunk * 15, 30 + chunk * 15):
        meaning, is_clean = meaning_of(tmp_path, covered(Random(seed)))
        plan = meaning.plan()
        untaken = survey(meaning.flow, plan) if is_clean else ()
        parts = find_parts(program_of(plan)) if untaken else set()
        taken = {(each.node, each.number) for each in parts if each.kind in {"edge", "case"}}
        entered = {each.node for each in parts if each.kind == "node"}
        for way in untaken:
            edges = enumerate(plan.nodes[way.node].edges)
            meant = {(way.node, at) for at, edge in edges if way.edge in {None, edge} and is_way_on(edge)}
            assert way.entered is (way.node in entered), (seed, way)
            assert not way.entered or taken.isdisjoint(meant), (seed, way)
            assert entered.isdisjoint(way.behind), (seed, way)


@pytest.mark.parametrize("seed", range(choose(6, whole=100)))
def test_random_pipelines_without_errors_have_a_witness(seed: int, tmp_path: Path) -> None:
    meaning, is_clean = meaning_of(tmp_path, covered(Random(seed)))
    for found in search(program_of(meaning.plan())) if is_clean else ():
        program = program_of(meaning.plan())
        if isinstance(found, Witness):
            check_witness(program, found)
        else:
            assert measure_shortest(program, found.entry) is None
