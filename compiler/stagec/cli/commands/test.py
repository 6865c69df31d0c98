"""`stagec test`: run the tests of flows."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import click

from stagec.change.flow_tests.coverage import KINDS, Coverage, describe_missing, measure_coverage
from stagec.cli import options
from stagec.cli.files import name_from_here, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.running.inputs import locate
from stagec.cli.sheet import draw_lines
from stagec.cli.streams import find_canvas, put, say, show_progress
from stagec.cli.testing import RunTest, TestedFlows, read_files, run_tests
from stagec.core.failure import Exit, Failure
from stagec.core.place import Position
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, visible
from stagec.ir.plan import Plan
from stagec.sources.tree import Tree

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML can hold, not even escaped."""


@value
class Complaint:
    """Why a test fails, and where in its file that is written."""

    position: Position
    told: str


@value
class TestResult:
    """A test by its name, and why it fails; nothing if it passes."""

    name: str
    complaints: tuple[Complaint, ...] = ()

    def describe(self) -> Mapping[str, object]:
        """Return the result as JSON."""
        complaints = [
            {"line": each.position.line, "column": each.position.column, "message": each.told}
            for each in self.complaints
        ]
        return {"name": self.name, "passed": not complaints, "complaints": complaints}


@value
class TestedFile:
    """The results of a file of tests, and the id of the flow that it tests; `name` is the file as the user names it."""

    name: str
    flow: str
    results: tuple[TestResult, ...]


@value
class CoveredFlow:
    """A flow that was tested, and how much of it was run."""

    plan: Plan
    coverage: Coverage


@value
class FlowTestReport:
    """What came of all tests. `wanted` is the least coverage in percent; `lists_missing` tells what was not run."""

    files: tuple[TestedFile, ...]
    flows: tuple[CoveredFlow, ...]
    lists_missing: bool = False
    wanted: float | None = None

    @property
    def failed(self) -> int:
        """How many tests fail."""
        return sum(bool(each.complaints) for file in self.files for each in file.results)

    @property
    def uncovered(self) -> tuple[CoveredFlow, ...]:
        """The flows of which too little was run."""
        return tuple(each for each in self.flows if self.wanted is not None and each.coverage.percent < self.wanted)

    def list_lines(self) -> Iterator[tuple[str, Style | None]]:
        """Yield the lines of the report, each with its style."""
        for file in self.files:
            yield f"{file.name}: {file.flow}", Style.MESSAGE
            for each in file.results:
                yield (f"  failed  {each.name}", Style.ERROR) if each.complaints else (f"  passed  {each.name}", None)
                for complaint in each.complaints:
                    start = complaint.position
                    yield f"    {file.name}:{start.line}:{start.column}: {complaint.told}", None
        count = sum(len(file.results) for file in self.files)
        yield f"{format_count(count, 'test')}: {count - self.failed} passed, {self.failed} failed", Style.MESSAGE
        for flow in self.flows:
            yield f"{flow.plan.id}: {_describe_coverage(flow.coverage)}", None
            if self.lists_missing or flow in self.uncovered:
                yield from ((f"  {line}", None) for line in describe_missing(flow.plan, flow.coverage))
        for flow in self.uncovered:
            yield f"{flow.plan.id}: less than the {self.wanted:g} % that are demanded", Style.ERROR


def draw_text(report: FlowTestReport) -> str:
    """Return the report for people."""
    return draw_lines(find_canvas(sys.stdout, os.environ), report.list_lines())


def _describe_coverage(coverage: Coverage) -> str:
    counts = ((kind, *coverage.count(kind)) for kind in KINDS)
    told = [f"{run} of {format_count(known, kind)}" for kind, run, known in counts if known]
    return f"tests run {' and '.join((', '.join(told[:-1]), told[-1]))}, {coverage.percent:.0f} %"


def draw_json(report: FlowTestReport) -> str:
    """Return the report as JSON."""
    files = [
        {"file": file.name, "flow": file.flow, "tests": [each.describe() for each in file.results]}
        for file in report.files
    ]
    flows = [
        {
            "id": flow.plan.id,
            "percent": round(flow.coverage.percent, 1),
            **{f"{kind}s": dict(zip(("run", "all"), flow.coverage.count(kind), strict=True)) for kind in KINDS},
            "missing": [*describe_missing(flow.plan, flow.coverage)],
        }
        for flow in report.flows
    ]
    return json.dumps({"failed": report.failed, "files": files, "flows": flows}, indent=2) + "\n"


def draw_junit(report: FlowTestReport) -> str:
    """Return the report as JUnit's XML."""
    tests = sum(len(file.results) for file in report.files)
    head = f'<testsuites name="stagec test" tests="{tests}" failures="{report.failed}" errors="0">'
    lines = ['<?xml version="1.0" encoding="utf-8"?>', head, *map(_draw_suite, report.files), "</testsuites>"]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "xmlcharrefreplace").decode()


def _draw_suite(file: TestedFile) -> str:
    name = _quote(file.name)
    failed = sum(bool(each.complaints) for each in file.results)
    head = f'<testsuite name={name} tests="{len(file.results)}" failures="{failed}" errors="0" skipped="0">'
    cases = []
    for each in file.results:
        told = " ".join(f"{one.position.line}:{one.position.column}: {one.told}" for one in each.complaints)
        inside = f"><failure message={_quote(told)}/></testcase>" if told else "/>"
        cases.append(f"  <testcase classname={name} name={_quote(each.name)}{inside}")
    return "\n".join((head, *cases, "</testsuite>"))


def _quote(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", visible(text)))


FORMATS: Mapping[str, Callable[[FlowTestReport], str]] = {"text": draw_text, "json": draw_json, "junit": draw_junit}


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
