"""Say what came of tests: to people, as JSON, and as JUnit's XML."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from xml.sax.saxutils import quoteattr

from stagec.cli.streams import find_canvas
from stagec.cli.tables import draw_lines
from stagec.core.place import Position
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, visible
from stagec.flow_tests.coverage import KINDS, Coverage, describe_missing
from stagec.plan import Plan

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
