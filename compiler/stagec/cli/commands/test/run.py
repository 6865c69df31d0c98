"""Run the tests that a user names against the plans of their flows, and report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stagec.cli.commands.test.report import FORMATS, Complaint, CoveredFlow, FlowTestReport, TestedFile, TestResult
from stagec.cli.files import name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import locate
from stagec.cli.streams import put, say, show_progress
from stagec.cli.testing.files import read_files
from stagec.cli.testing.flows import TestedFlows
from stagec.cli.testing.runs import RunTest, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.flow_tests.coverage import measure_coverage
from stagec.sources.tree import Tree


@value
class FlowTestRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    word: str | None = None
    jobs: int | None = None
    coverage: bool = False
    fail_under: float | None = None
    update: bool = False
    output_format: str = "text"


def run(request: FlowTestRequest) -> Exit:
    """Run the tests; return the exit status."""
    configuration = load_configuration(request.paths, request.root)
    trees = read_files(configuration, request.paths)
    flows = TestedFlows(configuration)
    with show_progress("testing …"):
        tested = run_tests(trees, flows, request.word, request.jobs)
    name = name_from_here(configuration.root)
    files = tuple(_report_file(name(tree.file), [each for each in tested if each.tree is tree]) for tree in trees)
    coverage = tuple(
        CoveredFlow(each.plan, measure_coverage(each.plan, (one.found for one in tested if one.flow is each)))
        for each in flows.found.values()
    )
    told = tuple(file for file in files if file.results)
    report = FlowTestReport(told, coverage, request.coverage, request.fail_under)
    if request.update:
        _update(configuration.root, trees, tested)
    else:
        put(FORMATS[request.output_format](report))
    return Exit.FINDINGS if report.uncovered or (report.failed and not request.update) else Exit.CLEAN


def _report_file(name: str, tested: list[RunTest]) -> TestedFile:
    results = (
        TestResult(
            each.test.name,
            tuple(Complaint(locate(each.tree, at.pointer), told) for at, told in each.list_complaints()),
        )
        for each in tested
    )
    return TestedFile(name, tested[0].flow.plan.id if tested else "", tuple(results))


def _update(root: Path, trees: Iterable[Tree], tested: Iterable[RunTest]) -> None:
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
