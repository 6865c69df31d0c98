"""Show the text of models on a terminal while it streams in: whole lines, each after the name of its node."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections import deque
from threading import Lock

from stagec.cli.running.people import TERMINAL
from stagec.cli.streams import find_canvas, put_error
from stagec.core.terminal import Canvas, columns
from stagec.core.words import escape_ci_commands, visible
from stagec.drivers.local.request_descriptions import label_request

_USUAL = 80
"""Columns where nobody looks at a terminal, but wants to read what models write."""
_KEPT = 1_000
"""Lines that wait while somebody is asked something at the terminal; older ones are dropped."""
_MARKED = 4
"""Characters that stand in a column at most: letters may have marks above and below them."""
_WIPE = "\r\x1b[K"
"""Wipes out the sentence that says who takes so long."""


def choose_model_output(*, wish: bool | None, events: str | None) -> ModelOutput | None:
    """Return what shows the text of models: when somebody watches, unless programs do; None where nothing does."""
    is_watched = sys.stderr.isatty() and os.environ.get("TERM") not in {None, "", "dumb"}
    is_wanted = is_watched if wish is None else wish
    return (
        ModelOutput(find_canvas(sys.stderr, os.environ), is_watched=is_watched)
        if is_wanted and events is None
        else None
    )


class ModelOutput:
    """Shows the text of several models at the same time; its methods are called in their threads, and never wait."""

    def __init__(self, paper: Canvas, *, is_watched: bool) -> None:
        self._paper, self._wipe = paper, _WIPE if is_watched else ""
        self._texts: dict[str, str] = {}
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._lock = Lock()

    def hear(self, key: str, text: str) -> None:
        """Take a piece of the text that answers a request, and show the lines that it completes."""
        with self._lock:
            *whole, rest = (self._texts.get(key, "") + text).split("\n")
            name, room = self._name(key)
            for line in whole:
                self._break(name, line, room)
            self._texts[key] = self._break_full(name, rest, room)
            self._show()

    def end(self, key: str) -> None:
        """Show what is left of a text that is complete, or was broken off."""
        with self._lock:
            name, room = self._name(key)
            self._break(name, self._texts.pop(key, ""), room)
            self._show()

    def _name(self, key: str) -> tuple[str, int]:
        """Return what comes before each line of a request, and the columns that are left."""
        width = self._paper.width or _USUAL
        name = visible(label_request(key), self._paper.encoding)
        while columns(name) > width // 3:
            name = name[:-1]
        bar = "│" if visible("│", self._paper.encoding) == "│" else "|"
        prefix = escape_ci_commands(f"{name} {bar} ")
        return prefix, width - columns(prefix) - 1

    def _break(self, name: str, text: str, room: int) -> None:
        rest = self._break_full(name, text, room)
        if rest.strip():
            self._lines.append(f"{name}{visible(rest.rstrip(), self._paper.encoding)}")

    def _break_full(self, name: str, text: str, room: int) -> str:
        """Write every line of a text that is full; return the rest."""
        while (most := self._count_fitting(text, room)) < len(text):
            blank = text.rfind(" ", most // 2, most + 1)
            line, text = (text[:blank], text[blank + 1 :]) if blank > 0 else (text[:most], text[most:])
            self._lines.append(f"{name}{visible(line, self._paper.encoding)}")
        return text

    def _show(self) -> None:
        """Write the lines that wait, unless somebody is being asked something."""
        if self._lines and TERMINAL.acquire(blocking=False):
            try:
                put_error("".join(f"{self._wipe}{line}\n" for line in self._lines))
                self._lines.clear()
            finally:
                TERMINAL.release()

    def _count_fitting(self, text: str, room: int) -> int:
        """Return how many characters of a text fit, one at least; marks without a column of their own count as well."""
        known = text[: room * _MARKED]
        ends = range(1, len(known) + 1)
        return (
            max(1, bisect_right(ends, room, key=lambda end: columns(visible(known[:end], self._paper.encoding))))
            if text
            else 0
        )
