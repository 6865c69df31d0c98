"""One line per diagnostic, for grep and for editors."""

from __future__ import annotations

from stagec.check.reporters import Diagnostic, Report, Reporter
from stagec.core.words import visible


def _render(report: Report) -> str:
    return "".join(_format_line(each, report) for each in report.diagnostics)


def _format_line(each: Diagnostic, report: Report) -> str:
    start = each.span.start
    # keep a file called `::error::` from being obeyed by a build service that reads the output
    name = report.name_file(each.at.file)
    quote_file = f"./{name}" if name.lstrip().startswith("::") else name
    where = f"{quote_file}:{start.line}:{start.column}"
    return visible(f"{where}: {each.severity}[{each.code}] {each.name}: {each.message}", report.canvas.encoding) + "\n"


REPORTER = Reporter("concise", _render)
