"""What is written on boxes and lines, and that nothing is left out that fits."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.views.picture.document import Box, Line, Role, Stroke
from stagec.views.picture.layout import Badge
from stagec.views.picture.layout.document import face_of_box, face_of_line


def test_a_long_condition_is_written_in_several_rows() -> None:
    face = face_of_line(Line("a", "b", Stroke.GO, ("ok: parsed.severity in high, critical",)))
    assert face is not None
    assert face.rows == ("ok: parsed.severity in high,", "critical")


def test_more_labels_than_there_is_room_for_are_counted() -> None:
    face = face_of_line(Line("a", "b", Stroke.GO, tuple("abcdef")))
    assert face is not None
    assert face.rows == ("a", "b", "c", "and 3 more")


def test_a_badge_says_how_heavy_a_finding_is_and_what_its_rule_is_called(found: Callable[..., Diagnostic]) -> None:
    note = found("STG1", severity=Severity.NOTE)
    assert face_of_box(Box("a", "a", Role.NODE, found=(note, found("STG2")))).badges == (
        Badge("✗ STG2 rule", Severity.ERROR),
        Badge("· STG1 rule", Severity.NOTE),
    )


def test_the_heaviest_findings_have_badges_and_the_rest_is_counted(found: Callable[..., Diagnostic]) -> None:
    findings = (*(found(f"STG{at}", severity=Severity.NOTE) for at in range(4)), found("STG9"))
    assert face_of_box(Box("a", "a", Role.NODE, found=findings)).badges == (
        Badge("✗ STG9 rule", Severity.ERROR),
        Badge("· STG0 rule", Severity.NOTE),
        Badge("and 3 more", None),
    )
