"""Code frames for people, and a last line that lists what was checked."""

from __future__ import annotations

from stagec.check.reporters import Report, Reporter, format_count
from stagec.core.words import listing


def _render(report: Report) -> str:
    if report.diagnostics:
        from stagec.check.reporters.text.block import Blocks  # a clean run does not pay for drawing

        blocks = Blocks(report)
        parts = [f"{blocks.draw(each)}\n" for each in report.diagnostics]
    else:
        parts = []
    if not report.quiet:
        sentence = _count_findings(report) if report.diagnostics else f"All clear: {_list_subjects(report)}"
        width = report.canvas.width
        if width is None or len(sentence) <= width:
            fill = sentence
        else:
            from stagec.core.terminal import wrap

            fill = "\n".join(wrap(sentence, width))
        parts.append(fill)
        if report.unread:
            files = [report.name_file(file) for file in sorted(report.trees)]
            parts += [f"Read: {listing(files)}", f"Seen and not read: {', '.join(report.unread)}"]
    return "".join(f"{part}\n" for part in parts)


def _count_findings(report: Report) -> str:
    counts = ", ".join(format_count(number, severity) for severity, number in report.counts().items() if number)
    files = format_count(len({each.at.file for each in report.diagnostics}), "file")
    return f"Found {counts} in {files} (checked {_list_subjects(report)})"


def _list_subjects(report: Report) -> str:
    nodes = sum(len(flow.nodes) for flow in report.flows)
    flows = (
        f"{format_count(len(report.flows), 'flow')} with {format_count(nodes, 'node')}" if report.flows else "no flow"
    )
    silent = f", {format_count(report.suppressed, 'finding')} suppressed" if report.suppressed else ""
    known = f", {format_count(report.known, 'finding')} in the baseline" if report.known else ""
    return f"{flows}, {format_count(len(report.trees), 'file')}{silent}{known}"


REPORTER = Reporter("text", _render)
