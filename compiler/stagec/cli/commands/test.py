"""`stagec test`: run the tests of flows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any
from xml.sax.saxutils import quoteattr

import click

from stagec.change.flow_tests.coverage import Coverage, describe_missing, measure_coverage
from stagec.cli import options
from stagec.cli.files import name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.report import ReportForm
from stagec.cli.running.inputs import locate
from stagec.cli.sheet import Sheet
from stagec.cli.streams import say, show_progress
from stagec.cli.testing import (
    CoveredCount,
    RunTest,
    TestedFlows,
    count_covered,
    list_covered,
    read_files,
    run_tests,
)
from stagec.core.failure import Exit, Failure
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, visible
from stagec.ir.plan import Plan
from stagec.ir.plan.codec import HIDDEN, Count, Positive
from stagec.sources.tree import Tree

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""


@value
class Complaint:
    """Why a test fails, and where in its file that is written."""

    line: Annotated[Positive, "The line, from 1."]
    column: Annotated[Positive, "The column, from 1."]
    message: Annotated[str, "The difference from the expectation."]


@value
class TestResult:
    """A test."""

    name: Annotated[str, "Its name."]
    passed: Annotated[bool, "Whether it passes."]
    complaints: Annotated[tuple[Complaint, ...], "Why it fails; nothing if it passes."]


@value
class TestedFile:
    """The results of a file of tests."""

    file: Annotated[str, "The file, from where stagec was called."]
    flow: Annotated[str, "The id of the flow that it tests."]
    tests: Annotated[tuple[TestResult, ...], "Its tests."]


@value
class CoveredFlow:
    """A flow that was tested, and how much of it was run."""

    id: Annotated[str, "The id of the flow."]
    percent: Annotated[float, "The part of the flow that the tests run, from 0 to 100."]
    nodes: Annotated[CoveredCount, "Its nodes."]
    edges: Annotated[CoveredCount, "Its edges without conditions."]
    cases: Annotated[CoveredCount, "Its edges with conditions, and the nodes that an answer may choose."]
    rules: Annotated[CoveredCount, "The checks that judge results, and the validators."]
    missing: Annotated[tuple[str, ...], "The parts that no test runs, for people."]
    coverage: Annotated[Coverage, HIDDEN]

    @classmethod
    def of(cls, plan: Plan, coverage: Coverage) -> CoveredFlow:
        """Return the report of a flow."""
        percent, counts = round(coverage.percent, 1), count_covered(coverage)
        missing = tuple(describe_missing(plan, coverage))
        return cls(id=plan.id, percent=percent, missing=missing, coverage=coverage, **counts)


@value
class FlowTestReport:
    """The results of the tests of flows."""

    failed: Annotated[Count, "How many tests fail."]
    files: Annotated[tuple[TestedFile, ...], "Every file that has a test with the word in its name."]
    flows: Annotated[tuple[CoveredFlow, ...], "Every flow that was tested."]
    lists_missing: Annotated[bool, HIDDEN] = False
    wanted: Annotated[float | None, HIDDEN] = None
    """The least coverage in percent."""

    @property
    def count(self) -> int:
        """How many tests there are."""
        return sum(len(file.tests) for file in self.files)

    @property
    def uncovered(self) -> tuple[CoveredFlow, ...]:
        """The flows of which too little was run."""
        return tuple(each for each in self.flows if self.wanted is not None and each.coverage.percent < self.wanted)

    def draw(self, sheet: Sheet) -> None:
        """Write the report for people."""
        for file in self.files:
            sheet.line(f"{file.file}: {file.flow}", Style.MESSAGE)
            for each in file.tests:
                sheet.line(
                    f"  {'passed' if each.passed else 'failed'}  {each.name}", None if each.passed else Style.ERROR
                )
                for complaint in each.complaints:
                    sheet.line(f"    {file.file}:{complaint.line}:{complaint.column}: {complaint.message}")
        told = f"{self.count - self.failed} passed, {self.failed} failed"
        sheet.line(f"{format_count(self.count, 'test')}: {told}", Style.MESSAGE)
        for flow in self.flows:
            *most, last = list_covered(flow.coverage)
            run = " and ".join((", ".join(most), last))
            sheet.line(f"{flow.id}: tests run {run}, {flow.coverage.percent:.0f} %")
            if self.lists_missing or flow in self.uncovered:
                for line in flow.missing:
                    sheet.line(f"  {line}")
        for flow in self.uncovered:
            sheet.line(f"{flow.id}: less than the required {self.wanted:g} %", Style.ERROR)


FORM = ReportForm("test_report", "test", FlowTestReport)


def draw_junit(report: FlowTestReport) -> str:
    """Return the report as JUnit's XML."""
    head = f'<testsuites name="stagec test" tests="{report.count}" failures="{report.failed}" errors="0">'
    lines = ['<?xml version="1.0" encoding="utf-8"?>', head, *map(_draw_suite, report.files), "</testsuites>"]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "xmlcharrefreplace").decode()


def _draw_suite(file: TestedFile) -> str:
    name = _quote(file.file)
    failed = sum(not each.passed for each in file.tests)
    head = f'<testsuite name={name} tests="{len(file.tests)}" failures="{failed}" errors="0" skipped="0">'
    cases = []
    for each in file.tests:
        told = " ".join(f"{one.line}:{one.column}: {one.message}" for one in each.complaints)
        inside = f"><failure message={_quote(told)}/></testcase>" if told else "/>"
        cases.append(f"  <testcase classname={name} name={_quote(each.name)}{inside}")
    return "\n".join((head, *cases, "</testsuite>"))


def _quote(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", visible(text)))


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
        CoveredFlow.of(each.plan, measure_coverage(each.plan, (one.found for one in tested if one.flow is each)))
        for each in flows.found.values()
    )
    told = tuple(file for file in files if file.tests)
    failed = sum(not each.passed for file in told for each in file.tests)
    report = FlowTestReport(failed, told, coverage, request.coverage, request.fail_under)
    if request.update:
        _update(configuration.root, trees, tested)
    else:
        FORM.put(report, request.output_format, junit=lambda: draw_junit(report))
    return Exit.FINDINGS if report.uncovered or (report.failed and not request.update) else Exit.CLEAN


def _report_file(name: str, tested: list[RunTest]) -> TestedFile:
    results = []
    for each in tested:
        found = ((locate(each.tree, at.pointer), told) for at, told in each.list_complaints())
        complaints = tuple(Complaint(at.line, at.column, told) for at, told in found)
        results.append(TestResult(each.test.name, not complaints, complaints))
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


@click.command("test", short_help="Run the tests of flows: scenarios with expectations.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("-k", "word", metavar="WORD", help="Only the tests with this word in their name.")
@options.jobs
@click.option("--coverage", is_flag=True, help="Also list the nodes, edges, cases and rules that no test runs.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the tests run less than this part of the nodes, edges, cases and rules of a flow.",
)
@click.option("--update", is_flag=True, help="Replace wrong expectations with the results of each run.")
@options.output_format("text", "json", "junit", default="text")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Run the tests in the files '*.flow-test.yaml' (or '.json') in PATHS, or in the configured roots.

    A test is a scenario of a flow with expectations: the outcome of the run, the path through the nodes, results, and
    the number of requests to tools and models. stagec compiles the flows of the project and runs each test in memory.
    It asks no model, starts no program, and skips waits. 'stagec schema flow_test' prints the schema of the files.

    Exit status: 0 all tests pass, 1 a test fails or the coverage is below --fail-under, 2 usage or environment, 3 no
    tests, 4 internal error.
    """
    context.exit(run(FlowTestRequest(**given)))
