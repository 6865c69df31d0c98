"""Columns are what a terminal shows, not characters."""

from __future__ import annotations

import pytest

from stagec.core.terminal import columns, wrap


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("審査", 4), ("ﾀ", 1), ("e\u0301", 1), ("🙂", 2)])
def test_a_text_takes_as_many_columns_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert columns(text) == width


def test_a_sentence_is_broken_between_words() -> None:
    assert wrap("one two three four", 9) == ["one two", "three", "four"]


def test_the_first_line_leaves_room_for_what_stands_before_it() -> None:
    assert wrap("one two three", 9, 4) == ["one", "two three"]


def test_no_line_begins_like_a_command() -> None:
    assert wrap("one two ::error::x", 9) == ["one two ::error::x"]
