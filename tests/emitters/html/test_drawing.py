"""What lines look like on the page when they are no usual ones."""

from __future__ import annotations

import re

from stagec.views.emitters import Box, Line, Picture, Role, Stroke
from stagec.views.emitters.html import EMITTER


def classes_of_lines(picture: Picture) -> list[set[str]]:
    text = EMITTER.emit((picture,)).decode()
    return [set(found.split()) for found in re.findall(r'<path class="([^"]*)" data-line=', text)]


def picture_of(*lines: Line, lost: str = "") -> Picture:
    names = dict.fromkeys(name for line in lines for name in (line.source, line.target))
    boxes = {name: Box(name, name, Role.NODE, is_reached=name != lost) for name in names}
    return Picture("p", "p", boxes, lines)


def test_a_line_from_where_no_run_comes_is_marked() -> None:
    picture = picture_of(Line("a", "b", Stroke.GO), lost="a")
    assert classes_of_lines(picture) == [{"line", "go", "unreached"}]


def test_what_was_probably_meant_is_marked_and_said() -> None:
    picture = picture_of(Line("a", "b", Stroke.GO, ("next",), is_guess=True))
    assert classes_of_lines(picture) == [{"line", "go", "guess"}]
    assert ">(probably meant)</text>" in EMITTER.emit((picture,)).decode()


def chain(count: int) -> list[Line]:
    """Return the lines of a row of boxes, and others that lead back to the first."""
    lines = [Line(f"n{at}", f"n{at + 1}", Stroke.GO) for at in range(count)]
    return lines + [Line(f"n{at}", "n0", Stroke.JOIN) for at in range(1, count + 1)]


def lengthy(picture: Picture) -> set[str]:
    return {
        stroke for look in classes_of_lines(picture) if "lengthy" in look for stroke in ("go", "join") if stroke in look
    }


def test_long_lines_are_dashed_where_they_are_few() -> None:
    assert lengthy(picture_of(*chain(600)[:600], chain(600)[-1])) == set()


def test_long_lines_are_not_dashed_where_they_are_many() -> None:
    assert lengthy(picture_of(*chain(600))) == {"join"}
