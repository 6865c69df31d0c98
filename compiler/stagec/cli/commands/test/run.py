"""Run the tests that a user names against the plans of their flows, and report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stagec.cli.commands.test.files import read_files
from stagec.cli.commands.test.flows import TestedFlows
from stagec.cli.commands.test.report import FORMATS, Complaint, FlowTestReport, TestedFile, TestedFlow, TestResult
from stagec.cli.files import name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import locate
from stagec.cli.streams import put, say, show_progress
from stagec.core.diagnostic import Change, Edit
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.flow_tests.coverage import measure_coverage
from stagec.flow_tests.document import FlowTest, read_flow_tests
from stagec.flow_tests.execution import Observation, run_test
from stagec.flow_tests.expectations import find_mismatches
from stagec.runtime import Move, Program
from stagec.sources.tree import Tree
from stagec.world.scenario import find_mistakes


@value
class FlowTestRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    word: str | None = None
    coverage: bool = False
    fail_under: float | None = None
    update: bool = False
    output_format: str = "text"


@value
class RunTest:
    """A test that has been run: its file, what came of it, and what should have."""

    tree: Tree
    test: FlowTest
    program: Program
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


def run(request: FlowTestRequest) -> Exit:
    """Run the tests; return the exit status."""
    configuration = load_configuration(request.paths, request.root)
    trees = read_files(configuration, request.paths)
    flows = TestedFlows(configuration)
    with show_progress("testing …"):
        tested = [*_run_tests(trees, flows, request.word)]
    if not tested:
        raise Failure(f"no test has {quote(request.word)} in its name", Exit.NOTHING)
    name = name_from_here(configuration.root)
    files = tuple(_report_file(name(tree.file), [each for each in tested if each.tree is tree]) for tree in trees)
    coverage = tuple(_report_flow(program, tested) for program in flows.programs.values())
    told = tuple(file for file in files if file.results)
    report = FlowTestReport(told, coverage, request.coverage, request.fail_under)
    if request.update:
        _update(configuration.root, trees, tested)
    else:
        put(FORMATS[request.output_format](report))
    return Exit.FINDINGS if report.uncovered or (report.failed and not request.update) else Exit.CLEAN


def _run_tests(trees: Iterable[Tree], flows: TestedFlows, word: str | None) -> Iterator[RunTest]:
    for tree in trees:
        file = read_flow_tests(tree)
        for test in file.tests:
            if word is None or word.lower() in test.name.lower():
                program = flows.load(file)
                # what the plan does not have is a slip of the pen, and a test that passes in spite of it proves less
                wrong = next(find_mistakes(test.scenario, program.plan), None)
                found = run_test(program, test) if wrong is None else Observation(None, "", trouble=wrong.told)
                yield RunTest(tree, test, program, found)


def _report_file(name: str, tested: list[RunTest]) -> TestedFile:
    results = (
        TestResult(
            each.test.name,
            tuple(Complaint(locate(each.tree, at.pointer), told) for at, told in each.list_complaints()),
        )
        for each in tested
    )
    return TestedFile(name, tested[0].program.plan.id if tested else "", tuple(results))


def _report_flow(program: Program, tested: Iterable[RunTest]) -> TestedFlow:
    moves: list[Move] = [move for each in tested if each.program is program for move in each.found.moves]
    return TestedFlow(program.plan, measure_coverage(program.plan, moves))


def _update(root: Path, trees: Iterable[Tree], tested: list[RunTest]) -> None:
    """Write what came of the runs over the expectations that do not hold."""
    before = {tree.file: tree.data for tree in trees}
    edits = {tree.file: [e for each in tested if each.tree is tree for e in each.list_edits()] for tree in trees}
    texts = {tree.file: tree.format.apply(tree.data.decode(), edits[tree.file]) for tree in trees if edits[tree.file]}
    changed = {file: text.encode() for file, text in texts.items()}
    write_files(root, changed, before)
    troubled = sum(each.found.trouble is not None for each in tested)
    for file in changed:
        say(f"stagec: updated {file}")
    if troubled:
        raise Failure(f"{format_count(troubled, 'test')} cannot be updated: 'stagec test' says why")
