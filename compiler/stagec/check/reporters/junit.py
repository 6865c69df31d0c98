"""JUnit's XML, which most build services show as a table of tests: each file is a suite, each finding in it a case."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from stagec.check.reporters import Diagnostic, Report, Reporter, Severity
from stagec.core.words import visible

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""


def _render(report: Report) -> str:
    by_file: dict[str, list[Diagnostic]] = {file: [] for file in sorted(report.trees)}
    grouped = defaultdict(list, by_file)
    for each in report.diagnostics:
        grouped[each.at.file].append(each)
    suites = [_draw_suite(report.name_in_repository(file), found) for file, found in sorted(grouped.items())]
    counts = _count(report.diagnostics)
    tests = sum(max(1, len(found)) for found in grouped.values())
    head = f'<testsuites name="stagec" tests="{tests}" failures="{counts}" errors="0">'
    text = "".join(f"{line}\n" for line in ('<?xml version="1.0" encoding="utf-8"?>', head, *suites, "</testsuites>"))
    return text.encode("ascii", "xmlcharrefreplace").decode()  # whatever the encoding of a terminal


def _count(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> int:
    return sum(each.severity is not Severity.NOTE for each in found)


def _draw_suite(file: str, found: list[Diagnostic]) -> str:
    name = _quote(file)
    cases = [_draw_case(name, each) for each in found] or [f"  <testcase classname={name} name={_quote('checked')}/>"]
    head = f'<testsuite name={name} tests="{len(cases)}" failures="{_count(found)}" errors="0" skipped="0">'
    return "\n".join((head, *cases, "</testsuite>"))


def _draw_case(file: str, each: Diagnostic) -> str:
    start = each.span.start
    title = _quote(f"{each.code} {each.name} {start.line}:{start.column}")
    where = [f"{each.at.file}:{start.line}:{start.column}: {each.severity}[{each.code}]: {each.message}"]
    text = escape("\n".join(_clean(line) for line in (*where, *each.pages())))
    if each.severity is Severity.NOTE:  # a note fails nothing
        return f"  <testcase classname={file} name={title}><system-out>{text}</system-out></testcase>"
    kind = f"type={_quote(each.severity)} message={_quote(each.message)}"
    return f"  <testcase classname={file} name={title}><failure {kind}>{text}</failure></testcase>"


def _quote(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", visible(text))


REPORTER = Reporter("junit", _render)
