"""What lines look like on the page when they are no usual ones."""

from __future__ import annotations

import re

from stagec.emitters import Box, Line, Picture, Role, Stroke
from stagec.emitters.html import EMITTER


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


def test_only_lines_that_are_not_long_are_dashed() -> None:
    chain = [Line(f"n{at}", f"n{at + 1}", Stroke.GO) for at in range(80)]
    looks = classes_of_lines(picture_of(*chain, Line("n80", "n0", Stroke.BACK)))
    assert [look for look in looks if "lengthy" in look] == [{"line", "back", "lengthy"}]
