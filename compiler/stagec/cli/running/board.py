"""Rows at the bottom of a terminal that are redrawn in place while other lines scroll by above them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from stagec.cli.streams import find_canvas, put_error
from stagec.core.terminal import Canvas

_PACE = 0.25
"""Seconds between two drawings."""

Rows = Callable[[Canvas], list[str]]
"""Returns the rows of a moment, none of which is wider than the canvas."""


class Board:
    """Draws rows on the terminal of standard error, several times in a second.

    Where standard error is no terminal, or one that cannot move its cursor, nothing is drawn.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._lock, self._over = Lock(), Event()
        self._thread: Thread | None = None
        self._drawn = 0

    def start(self) -> None:
        """Draw from now on."""
        if self._thread is None and sys.stderr.isatty() and os.environ.get("TERM") not in {None, "", "dumb"}:
            self._thread = Thread(target=self._repeat, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Wipe the rows out, and draw no more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            put_error(self._wipe())

    @contextmanager
    def above(self) -> Iterator[None]:
        """Let the body write whole lines, which stay above the rows."""
        with self._lock:
            put_error(self._wipe())
            yield
            if self._thread is not None and not self._over.is_set():
                put_error(self._draw())

    def _repeat(self) -> None:
        while not self._over.wait(_PACE):
            with self._lock:
                put_error(self._wipe() + self._draw())

    def _wipe(self) -> str:
        """Return what moves the cursor to the first row, and wipes out everything from there."""
        drawn, self._drawn = self._drawn, 0
        return f"\x1b[{drawn}A\r\x1b[J" if drawn else ""

    def _draw(self) -> str:
        rows = self._rows(find_canvas(sys.stderr, os.environ))
        self._drawn = len(rows)
        return "".join(f"{row}\n" for row in rows)
