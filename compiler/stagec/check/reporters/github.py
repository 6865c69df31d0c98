"""Workflow commands, which GitHub shows as annotations at the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.check.reporters import Diagnostic, Report, Reporter, Severity
from stagec.core.place import START
from stagec.core.words import visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_VALUE = _TEXT | str.maketrans({":": "%3A", ",": "%2C"})


def _render(report: Report) -> str:
    return "".join(_write_command(each, report) for each in report.diagnostics)


def _write_command(each: Diagnostic, report: Report) -> str:
    encoding = report.canvas.encoding
    values = ",".join(f"{name}={visible(value, encoding).translate(_VALUE)}" for name, value in _describe(each, report))
    message = "\n".join((each.message, *(f"{also.at.file}: {also.message}" for also in each.related), *each.pages()))
    shown = "\n".join(visible(line, encoding) for line in message.split("\n"))
    return f"::{_COMMANDS[each.severity]} {values}::{shown.translate(_TEXT)}\n"


def _describe(each: Diagnostic, report: Report) -> Iterator[tuple[str, str]]:
    yield "file", report.name_in_repository(each.at.file)
    start, end = each.span.start, each.span.end
    yield "line", str(start.line)
    if each.span != START:
        yield "endLine", str(end.line)
        if start.line == end.line:  # GitHub refuses columns of places with several lines
            yield "col", str(start.column)
            yield "endColumn", str(max(end.column, start.column + 1))
    yield "title", f"{each.code} {each.name}"


REPORTER = Reporter("github", _render)
