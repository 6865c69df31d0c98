"""What a stream can show depends on the stream first and on the environment second."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper

import pytest

from stagec.check.reporters import Canvas
from stagec.cli.streams import find_canvas


class Terminal(TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "width", "colour"),
    [
        ({}, 80, True),
        ({"COLUMNS": "60"}, 60, True),
        ({"COLUMNS": "3"}, 20, True),
        ({"COLUMNS": "wide"}, 80, True),
        ({"NO_COLOR": "1"}, 80, False),
        ({"NO_COLOR": ""}, 80, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, 80, False),
        ({"TERM": "dumb"}, 80, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, 80, True),
        ({"CLICOLOR": "0"}, 80, False),
    ],
)
def test_a_terminal_has_a_width_and_colours(environment: dict[str, str], width: int, *, colour: bool) -> None:
    stream = Terminal(BytesIO(), encoding="utf-8")
    assert find_canvas(stream, environment) == Canvas(width, colour, "utf-8")


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"CLICOLOR_FORCE": "1"}, True)],
)
def test_a_file_has_neither_unless_it_is_asked_for(environment: dict[str, str], *, colour: bool) -> None:
    stream = TextIOWrapper(BytesIO(), encoding="ascii")
    assert find_canvas(stream, {**environment, "COLUMNS": "60"}) == Canvas(None, colour, "ascii")
