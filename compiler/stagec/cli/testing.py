"""Flow tests on the command line: their files, their flows, and how they are run."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from stagec.change.flow_tests.coverage import KINDS, Coverage
from stagec.change.flow_tests.document import FlowTest, FlowTestFile, is_flow_test, read_flow_tests
from stagec.change.flow_tests.execution import Observation, make_runner
from stagec.change.flow_tests.expectations import find_mismatches
from stagec.check.pipeline import Meaning
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.inputs import refuse_faulty
from stagec.core.diagnostic import Change, Edit
from stagec.core.failure import Exit, Failure
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place, Pointer, pointer_text
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote
from stagec.core.workers import Workers
from stagec.ir.plan import Plan
from stagec.ir.plan.codec import Count
from stagec.sources.discover import FileWish, discover
from stagec.sources.project.configuration import Configuration
from stagec.sources.read import Sources
from stagec.sources.shape import judge
from stagec.sources.tree import Fault, Tree


def read_files(configuration: Configuration, paths: tuple[Path, ...]) -> tuple[Tree, ...]:
    """Return the files of tests, each of the right shape; else raise `Failure`."""
    settings = configuration.settings
    named = tuple(path.absolute() for path in paths)
    (files,) = discover(configuration.root, named, settings.scope, (FileWish(is_flow_test),)).claimed
    if not files:
        where = listing([os.path.relpath(path) for path in paths or (configuration.root,)])
        raise Failure(f"no tests: {where} holds no file '*.flow-test.yaml'", Exit.NOTHING)
    sources = Sources(configuration.root, replace(settings.budgets, file_size=_ROOM * settings.budgets.file_size))
    trees = [judge(tree, "flow_test") for file in files if (tree := sources.tree(file, "flow test")) is not None]
    judged = tuple(tree if tree.faults else replace(tree, faults=tuple(_judge_scenarios(tree))) for tree in trees)
    for each in judged:
        if each.faults:
            refuse_faulty(each, "file of flow tests")
    return judged


_ROOM = 10
"""The answers of models and tools in a recorded run may be so many times as large as texts of people."""


def _judge_scenarios(tree: Tree) -> Iterator[Fault]:
    """Yield the faults in the scenarios of a file."""
    told = object_of(tree.value)
    scenarios: dict[Pointer, object] = {("scenario",): told.get("scenario", {})}
    for name, each in object_of(told.get("tests")).items():
        scenarios[("tests", name, "scenario")] = object_of(each).get("scenario", {})
    for pointer, scenario in scenarios.items():
        for fault in judge(replace(tree, value=scenario), "scenario").faults:
            yield replace(fault, at=Place(tree.file, (*pointer, *fault.at.pointer)))


@value
class TestedFlow:
    """A tested flow, its model, its plan, and the file of the plan."""

    meaning: Meaning
    plan: Plan
    data: bytes


class TestedFlows:
    """The flows of a project, and those that tests have asked for, by where they are declared."""

    def __init__(self, configuration: Configuration) -> None:
        self._freezer = Freezer(configuration, ())
        self.found: dict[str, TestedFlow] = {}

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The files that the project was read from."""
        return self._freezer.compilation.trees

    def load(self, file: FlowTestFile) -> str:
        """Return under which name in `found` the flow is that a file tests; raise `Failure` if there is none."""
        meaning = self._choose(file)
        place = meaning.flow.at
        name = f"{place.file}#{pointer_text(place.pointer)} {meaning.flow.id}"
        if name not in self.found:
            frozen = self._freezer.freeze(meaning)
            if isinstance(frozen, Refused):
                why = frozen.advice
                raise Failure(f"{file.file}: the flow {quote(meaning.flow.id)} is not compiled: {why}")
            self.found[name] = TestedFlow(meaning, frozen.plan, frozen.data)
        return name

    def _choose(self, file: FlowTestFile) -> Meaning:
        """Return the flow that a file names, else the only one of the nearest folder that has any."""
        meanings = self._freezer.compilation.meanings
        if file.flow is not None:
            named = [each for each in meanings if each.flow.id == file.flow]
            if len(named) == 1:
                return named[0]
            names = NameIndex(each.flow.id for each in meanings)
            why = "several flows have this id" if named else f"there is no such flow{hint(file.flow, names)}"
            raise Failure(f"{file.file}: 'flow' is {quote(file.flow)}: {why}")
        folder = file.file
        while folder:
            folder = posixpath.dirname(folder)
            near = [each for each in meanings if posixpath.dirname(each.flow.at.file) == folder]
            if len(near) == 1:
                return near[0]
            if near:
                ids = listing(sorted(each.flow.id for each in near), "or")
                raise Failure(f"{file.file}: 'flow' must name one of several flows: {ids}")
        raise Failure(f"{file.file}: 'flow' must name a flow: no folder above the file has one")


@value
class RunTest:
    """A finished test: its file, its flow, its result and the expected one."""

    tree: Tree
    test: FlowTest
    flow: TestedFlow
    found: Observation

    def list_complaints(self) -> Iterator[tuple[Place, str]]:
        """Yield why the test fails, and where that is written."""
        at = self.test.at
        if self.found.trouble is not None:
            yield at, self.found.trouble
            return
        for each in find_mismatches(self.test.expected, self.found):
            yield Place(at.file, (*at.pointer, "expect", *each.pointer)), each.told

    def list_edits(self) -> Iterator[Edit]:
        """Yield the edits after which the test passes."""
        at = self.test.at
        for each in () if self.found.trouble is not None else find_mismatches(self.test.expected, self.found):
            yield Edit(Change.REPLACE, Place(at.file, (*at.pointer, "expect", *each.pointer)), each.held)


def run_tests(trees: Iterable[Tree], flows: TestedFlows, word: str | None, jobs: int | None) -> tuple[RunTest, ...]:
    """Return the tests with a word in their name, run; raise `Failure` when there is none."""
    chosen = [*_choose(trees, flows, word)]
    if not chosen:
        raise Failure(f"no test has {quote(word)} in its name", Exit.NOTHING)
    workers: Workers[tuple[str, FlowTest], Observation] = Workers(
        make_runner, {name: each.data for name, each in flows.found.items()}, count_jobs(jobs)
    )
    found = workers.work([(name, test) for _, name, test in chosen])
    return tuple(
        RunTest(tree, test, flows.found[name], each) for (tree, name, test), each in zip(chosen, found, strict=True)
    )


def _choose(trees: Iterable[Tree], flows: TestedFlows, word: str | None) -> Iterator[tuple[Tree, str, FlowTest]]:
    for tree in trees:
        file = read_flow_tests(tree)
        for test in file.tests:
            if word is None or word.lower() in test.name.lower():
                yield tree, flows.load(file), test


@value
class CoveredCount:
    """How many of one kind were run, and how many there are."""

    run: Annotated[Count, "How many were run."]
    all: Annotated[Count, "How many there are."]


def count_covered(coverage: Coverage) -> dict[str, CoveredCount]:
    """Return the covered parts of each kind, by their member of a report."""
    return {f"{kind}s": CoveredCount(*coverage.count(kind)) for kind in KINDS}


def list_covered(coverage: Coverage) -> list[str]:
    """Return how much was run of each kind that there is, in words."""
    counts = ((kind, *coverage.count(kind)) for kind in KINDS)
    return [f"{run} of {format_count(known, kind)}" for kind, run, known in counts if known]


def count_jobs(wanted: int | None) -> int:
    """Return how many processes work: as many as wanted, else as there are processors for this one."""
    if wanted is not None:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
