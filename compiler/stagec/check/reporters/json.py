"""The whole report as one JSON document, as `schemas/diagnostics.schema.json` describes it; one diagnostic per line."""

from __future__ import annotations

from typing import Any

from stagec.check.reporters import Diagnostic, Report, Reporter, Severity
from stagec.core.diagnostic import Edit, Remark
from stagec.core.place import Position, Span, pointer_text

_VERSION = 1


def _render(report: Report) -> str:
    from json import dumps  # not needed by other reporters

    lines = ",".join(f"\n{dumps(_describe_diagnostic(each, report))}" for each in report.diagnostics)
    end = "\n]" if lines else "]"
    counts = report.counts()
    summarize = {
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "notes": counts[Severity.NOTE],
        "folded": sum(each.folded for each in report.diagnostics),
        "suppressed": report.suppressed,
        "baseline": report.known,
        "files": len(report.trees),
        "flows": [{"id": each.id, "nodes": len(each.nodes), "edges": each.edges} for each in report.flows],
    }
    text = f'{{"version": {_VERSION},\n"summary": {dumps(summarize)},\n"diagnostics": [{lines}{end}}}\n'
    return text.replace(
        "##", "#\\u0023"
    )  # build services obey `##[…]` wherever it stands; it can only stand in strings


def _describe_diagnostic(each: Diagnostic, report: Report) -> dict[str, Any]:
    return {
        "code": each.code,
        "name": each.name,
        "severity": each.severity,
        "origin": list(each.origin),
        "file": each.at.file,
        "path": report.name_file(each.at.file),
        "pointer": pointer_text(each.at.pointer),
        "span": _describe_span(each.span),
        "message": each.message,
        "related": [_describe_remark(also, report) for also in each.related],
        "folded": each.folded,
        "fix": {
            "message": each.fix.message,
            "safe": each.fix.is_safe,
            "edits": [_describe_edit(edit) for edit in each.fix.edits],
        }
        if each.fix
        else None,
        "help": each.help,
        "url": each.url,
    }


def _describe_remark(also: Remark, report: Report) -> dict[str, Any]:
    return {
        "file": also.at.file,
        "path": report.name_file(also.at.file),
        "pointer": pointer_text(also.at.pointer),
        "span": _describe_span(also.span),
        "message": also.message,
    }


def _describe_edit(edit: Edit) -> dict[str, Any]:
    pointer = pointer_text(edit.at.pointer)
    stretch = {} if edit.at.range is None else {"range": [*edit.at.range]}
    return {"change": edit.change, "file": edit.at.file, "pointer": pointer, **stretch, "value": edit.value}


def _describe_span(span: Span) -> dict[str, Any]:
    return {"start": _describe_position(span.start), "end": _describe_position(span.end)}


def _describe_position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


REPORTER = Reporter("json", _render)
