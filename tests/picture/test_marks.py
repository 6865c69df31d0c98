"""Findings at one place are said once for each rule, the heaviest first."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.views.picture.document import Mark, marks_of


def test_findings_are_counted_and_ranked(found: Callable[..., Diagnostic]) -> None:
    note, warning = (found("STG2", severity=each) for each in (Severity.NOTE, Severity.WARNING))
    assert marks_of([note, found("STG9"), warning, found("STG1"), found("STG9")]) == [
        Mark(Severity.ERROR, "STG1", "rule", 1),
        Mark(Severity.ERROR, "STG9", "rule", 2),
        Mark(Severity.WARNING, "STG2", "rule", 1),
        Mark(Severity.NOTE, "STG2", "rule", 1),
    ]
