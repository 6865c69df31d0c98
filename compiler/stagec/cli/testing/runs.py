"""Run the tests that a user names, in several processes where that pays off; the order is that of the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from stagec.cli.testing.flows import TestedFlow, TestedFlows
from stagec.core.diagnostic import Change, Edit
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.core.workers import Workers
from stagec.flow_tests.document import FlowTest, read_flow_tests
from stagec.flow_tests.execution import Observation, make_runner
from stagec.flow_tests.expectations import find_mismatches
from stagec.sources.tree import Tree


@value
class RunTest:
    """A test that has been run: its file, its flow, what came of it, and what should have."""

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


def count_jobs(wanted: int | None) -> int:
    """Return how many processes work: as many as wanted, else as there are processors for this one."""
    if wanted is not None:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
