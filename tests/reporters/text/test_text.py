"""What only the text report promises."""

from __future__ import annotations

from patience import ends

from stagec.check.reporters import Canvas, Report
from stagec.check.reporters.text import REPORTER
from stagec.core.terminal import columns
from stagec.core.value import replace


def test_a_frame_fits_into_a_narrow_terminal(found: Report) -> None:
    lines = REPORTER.render(replace(found, canvas=Canvas(60))).splitlines()
    assert [line for line in lines if "|" in line and columns(line) > 60] == []


def test_colours_change_nothing_but_colours(found: Report) -> None:
    import re

    coloured = REPORTER.render(replace(found, canvas=Canvas(80, colour=True)))
    plain = REPORTER.render(replace(found, canvas=Canvas(80)))
    assert "\x1b[1;31merror[STG201]\x1b[0m" in coloured
    assert re.sub(r" +$", "", re.sub(r"\x1b\[[\d;]+m", "", coloured), flags=re.MULTILINE) == plain


def test_quiet_and_clean_is_silence(clean: Report) -> None:
    assert REPORTER.render(replace(clean, quiet=True)) == ""


def test_quiet_leaves_out_the_last_line_only(found: Report) -> None:
    told = REPORTER.render(found)
    assert REPORTER.render(replace(found, quiet=True)) == told[: told.index("Found")]


def test_ten_thousand_findings_in_one_long_line_take_no_time(found: Report) -> None:
    from stagec.core.place import Position, Span
    from stagec.sources.formats.plain import FORMAT
    from stagec.sources.tree import Tree

    tree = Tree("x.json", "file", FORMAT, b'{"target": "x"}' * 60_000)
    (first, *_) = found.diagnostics
    many = tuple(
        replace(first, at=tree.at, related=(), span=Span(Position(1, 90 * n + 1), Position(1, 90 * n + 9)))
        for n in range(10_000)
    )
    with ends():
        REPORTER.render(Report(many, trees={tree.file: tree}))
