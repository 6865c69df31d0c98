"""Code frames for people, and a last line that says what was looked at."""

from __future__ import annotations

from stagec.reporters import Report, Reporter, format_count


def _render(report: Report) -> str:
    parts = _draw_blocks(report) if report.diagnostics else []
    if not report.quiet:
        parts.append(
            _fill(_count_findings(report) if report.diagnostics else f"All clear: {_list_subjects(report)}", report)
        )
    return "".join(f"{part}\n" for part in parts)


def _draw_blocks(report: Report) -> list[str]:
    from stagec.reporters.text.block import Blocks  # a clean run does not pay for drawing

    blocks = Blocks(report)
    return [f"{blocks.draw(each)}\n" for each in report.diagnostics]


def _count_findings(report: Report) -> str:
    counts = ", ".join(format_count(number, severity) for severity, number in report.counts().items() if number)
    files = format_count(len({each.at.file for each in report.diagnostics}), "file")
    return f"Found {counts} in {files} (checked {_list_subjects(report)})"


def _list_subjects(report: Report) -> str:
    nodes = sum(len(flow.nodes) for flow in report.flows)
    flows = (
        f"{format_count(len(report.flows), 'flow')} with {format_count(nodes, 'node')}" if report.flows else "no flow"
    )
    return f"{flows}, {format_count(len(report.trees), 'file')}"


def _fill(sentence: str, report: Report) -> str:
    width = report.canvas.width
    if width is None or len(sentence) <= width:
        return sentence
    from stagec.core.terminal import wrap

    return "\n".join(wrap(sentence, width))


REPORTER = Reporter("text", _render)
