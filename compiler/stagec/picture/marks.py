"""What is said of findings at a box or line: each code once, the heaviest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.value import value

SIGNS: Mapping[Severity, str] = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.NOTE: "·"}
"""What stands before a finding, so that its weight is not told by colour alone."""


@value
class Mark:
    """Findings of one rule and one severity."""

    severity: Severity
    code: str
    name: str
    times: int


def marks_of(found: Iterable[Diagnostic]) -> list[Mark]:
    """Return what is said of diagnostics."""
    counts: dict[tuple[str, str, Severity], int] = {}
    for each in found:
        key = each.code, each.name, each.severity
        counts[key] = counts.get(key, 0) + 1
    marks = [Mark(severity, code, name, times) for (code, name, severity), times in counts.items()]
    return sorted(marks, key=lambda mark: (-mark.severity.weight, mark.code))
