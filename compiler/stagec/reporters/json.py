"""The whole report as one JSON document, as `schemas/diagnostics.schema.json` describes it; one diagnostic per line."""

from __future__ import annotations

from typing import Any

from stagec.core.diagnostic import Remark
from stagec.core.edit import Edit, Fix
from stagec.core.place import Position, Span, pointer_text
from stagec.reporters import Diagnostic, Flow, Report, Reporter, Severity

_VERSION = 1


def _render(report: Report) -> str:
    from json import dumps  # not needed by other reporters

    lines = ",".join(f"\n{dumps(_diagnostic(each))}" for each in report.diagnostics)
    end = "\n]" if lines else "]"
    text = f'{{"version": {_VERSION},\n"summary": {dumps(_summary(report))},\n"diagnostics": [{lines}{end}}}\n'
    return text.replace(
        "##", "#\\u0023"
    )  # build services obey `##[…]` wherever it stands; it can only stand in strings


def _summary(report: Report) -> dict[str, Any]:
    counts = report.counts()
    return {
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "notes": counts[Severity.NOTE],
        "folded": sum(each.folded for each in report.diagnostics),
        "files": len(report.trees),
        "flows": [_flow(each) for each in report.flows],
    }


def _flow(flow: Flow) -> dict[str, Any]:
    edges = flow.edges
    return {"id": flow.id, "nodes": len(flow.nodes), "edges": edges}


def _diagnostic(each: Diagnostic) -> dict[str, Any]:
    return {
        "code": each.code,
        "name": each.name,
        "severity": each.severity,
        "origin": list(each.origin),
        "file": each.at.file,
        "pointer": pointer_text(each.at.pointer),
        "span": _span(each.span),
        "message": each.message,
        "related": [_remark(also) for also in each.related],
        "folded": each.folded,
        "fix": _fix(each.fix) if each.fix else None,
        "url": each.url,
    }


def _remark(also: Remark) -> dict[str, Any]:
    pointer = pointer_text(also.at.pointer)
    return {"file": also.at.file, "pointer": pointer, "span": _span(also.span), "message": also.message}


def _fix(fix: Fix) -> dict[str, Any]:
    return {"message": fix.message, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> dict[str, Any]:
    pointer = pointer_text(edit.at.pointer)
    return {"change": edit.change, "file": edit.at.file, "pointer": pointer, "value": edit.value}


def _span(span: Span) -> dict[str, Any]:
    return {"start": _position(span.start), "end": _position(span.end)}


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


REPORTER = Reporter("json", _render)
