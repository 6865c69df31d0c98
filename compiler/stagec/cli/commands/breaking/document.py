"""What changes mean as one JSON document, as `schemas/breaking.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Container, Iterable

from stagec.cli.differences import dump_document, write_judged
from stagec.cli.sides import ComparedSide
from stagec.comparison.classify import JudgedFlow
from stagec.comparison.kind import Grade
from stagec.core.json import Json


def format_flows(
    before: ComparedSide, after: ComparedSide, flows: Iterable[JudgedFlow], allowed: Container[str]
) -> str:
    """Return the document."""
    made: list[Json] = [_write_flow(each, allowed) for each in flows]
    return dump_document({"version": 1, "against": before.label, "path": after.label, "flows": made})


def _write_flow(given: JudgedFlow, allowed: Container[str]) -> Json:
    grades = [each.kind.grade for each in given.changes if each.kind.code not in allowed]
    worst = next((each for each in Grade if each in grades), None)
    return {
        "flow": given.flow,
        "class": None if worst is None else worst.value,
        "changes": [write_judged(each, allowed) for each in given.changes],
    }
