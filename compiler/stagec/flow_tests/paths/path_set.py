"""Scenarios of found runs, each played once more: only what a scenario has been seen to do is claimed."""

from __future__ import annotations

from itertools import groupby

from stagec.core.place import Place
from stagec.core.value import value
from stagec.flow_tests.coverage import Coverage, CoveredPart, list_parts, list_parts_run, measure_coverage
from stagec.flow_tests.document import FlowTest
from stagec.flow_tests.execution import Observation, run_test
from stagec.flow_tests.paths.finder import FoundRuns, Missing, PathFinder
from stagec.flow_tests.scenario_writing import write_scenario
from stagec.flow_tests.writing import WrittenTest
from stagec.runtime import Program
from stagec.world.scenario import parse_scenario

_SHOWN = 60
"""Characters of the names of nodes that the name of a test has at most, or that of the first and the last."""


@value
class ScriptedPath:
    """A way through a flow as a test, and what came of its scenario."""

    test: WrittenTest
    found: Observation


@value
class PathSet:
    """Tests that take different ways through a flow, what they cover, and what none of them does."""

    paths: tuple[ScriptedPath, ...]
    coverage: Coverage
    missing: tuple[Missing, ...] = ()


def find_paths(program: Program, *, entry: str | None = None, to: str | None = None, pairs: bool = False) -> PathSet:
    """Return few tests that cover every node and edge of a flow, with `pairs` also edges that follow each other.

    With `to`, it is one test: the shortest run that comes to this node.
    """
    finder = PathFinder(program, entry=entry, pairs=pairs)
    return script_paths(program, finder.cover() if to is None else finder.reach(to))


def script_paths(program: Program, found: FoundRuns) -> PathSet:
    """Return the scenarios of runs; what happens otherwise when a scenario is played is missing."""
    paths: list[ScriptedPath] = []
    missing = [*found.missing]
    known = frozenset(list_parts(program.plan))
    for run in found.runs:
        scenario = write_scenario(program.plan, run.started, run.answered)
        observed = run_test(program, FlowTest("", Place(""), parse_scenario(dict(scenario), "the scenario")))
        parts = {each for each in run.items if isinstance(each, CoveredPart)}
        covered = known.intersection(list_parts_run(program.plan, observed))
        if observed.outcome != str(run.state.ended) or covered != parts:
            why = f"no scenario says what the world answers there{f': {observed.trouble}' if observed.trouble else ''}"
            missing += [Missing(each, str(each), why) for each in sorted(run.items, key=str)]
            continue
        expected = {"outcome": observed.outcome, "path": list(observed.path)}
        paths.append(ScriptedPath(WrittenTest(name_path(observed), scenario, expected), observed))
    paths.sort(key=lambda each: (each.found.outcome != "done", len(each.found.path)))
    return PathSet(tuple(paths), measure_coverage(program.plan, (each.found for each in paths)), tuple(missing))


def name_path(observed: Observation) -> str:
    """Return the name of a test: the nodes of its run, as many as fit, and how it ends."""
    groups = ((name, len([*some])) for name, some in groupby(observed.path))
    names = [name if times == 1 else f"{name} {times} times" for name, times in groups]
    shown = " → ".join(names)
    if len(shown) > _SHOWN:
        shown = f"{names[0]} → … → {names[-1]} in {len(observed.path)} executions"
    return f"{shown}: {observed.outcome}" if names else f"nothing: {observed.outcome}"
