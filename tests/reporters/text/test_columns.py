"""A line is cut around what is marked in it, in columns and not in characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stagec.check.reporters.text.block import Cut, cut
from stagec.core.terminal import columns


def test_a_short_line_is_shown_whole() -> None:
    assert cut("let it be", (4, 6), 20, "utf-8") == Cut("let it be", 4, 2)


def test_a_long_line_is_cut_on_both_sides_of_the_mark() -> None:
    assert cut("a" * 50 + "XX" + "b" * 50, (50, 52), 20, "utf-8") == Cut("…aaaaaaXXbbbbbbbbbb…", 7, 2)


def test_a_mark_near_the_start_keeps_the_start() -> None:
    assert cut("aaaXX" + "b" * 50, (3, 5), 20, "utf-8") == Cut("aaaXX" + "b" * 13 + "…", 3, 2)


def test_what_was_left_out_is_shown_in_ascii_where_nothing_else_can_be() -> None:
    assert cut("XX" + "b" * 50, (0, 2), 20, "ascii").text == "XX" + "b" * 12 + "..."


def test_a_tab_reaches_to_the_next_fourth_column() -> None:
    assert cut("\tab\tX", (4, 5), 20, "utf-8") == Cut("    ab  X", 8, 1)


def test_an_escaped_character_is_as_wide_as_its_escape() -> None:
    assert cut("\x1bX", (1, 2), 20, "utf-8") == Cut("\\x1bX", 4, 1)


def test_a_mark_behind_the_end_is_one_column_wide() -> None:
    assert cut("ab", (9, 9), 20, "utf-8") == Cut("ab", 2, 1)


@given(st.text(max_size=200), st.integers(0, 220), st.integers(0, 50), st.integers(20, 60))
def test_a_cut_fits_and_holds_its_mark(line: str, start: int, length: int, room: int) -> None:
    shown = cut(line, (start, start + length), room, "utf-8")
    assert columns(shown.text) <= room
    assert shown.offset + shown.width <= max(columns(shown.text), shown.offset + 1)
