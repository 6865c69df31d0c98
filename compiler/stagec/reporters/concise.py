"""One line per diagnostic, for grep and for editors."""

from __future__ import annotations

from stagec.core.words import visible
from stagec.reporters import Diagnostic, Report, Reporter


def _render(report: Report) -> str:
    return "".join(_format_line(each, report.canvas.encoding) for each in report.diagnostics)


def _format_line(each: Diagnostic, encoding: str) -> str:
    start = each.span.start
    head = f"{_quote_file(each.at.file)}:{start.line}:{start.column}: {each.severity}[{each.code}] {each.name}"
    return visible(f"{head}: {each.message}", encoding) + "\n"


def _quote_file(name: str) -> str:
    """Keep a file called `::error::` from being obeyed by a build service that reads the output."""
    return f"./{name}" if name.lstrip().startswith("::") else name


REPORTER = Reporter("concise", _render)
