"""How far each server is: a line for each on a terminal, redrawn in place, else a plain line when it is done."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import monotonic
from typing import Self

from stagec.catalogue import Server
from stagec.cli.streams import put_aside, say
from stagec.core.visible import visible
from stagec.core.words import counted

_SELDOM = 0.1
"""Seconds between two drawings; a server with many pages would draw all the time."""
_ROWS = 20
"""Lines that are redrawn; more than a small terminal has could not be."""
_LONGEST = 60


class Display:
    """Shows servers and how many tools each has named; as a context it leaves no line behind on a terminal."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._live = sys.stderr.isatty()
        self._states = {id(each): "waits" for each in servers}
        self._names = {id(each): visible(each.name[:_LONGEST], sys.stderr.encoding or "ascii") for each in servers}
        self._drawn = 0
        self._next = 0.0

    def __enter__(self) -> Self:
        """Begin with nothing shown."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what was drawn."""
        self._wipe()

    def update(self, server: Server, tools: int) -> None:
        """Show that a server was started, or how many tools it has named so far."""
        self._states[id(server)] = counted(tools, "tool") if tools else "starts"
        if self._live and monotonic() >= self._next:
            self._draw()

    def finish(self, server: Server, tools: int | None) -> None:
        """Show that a server has named all its tools, or did not answer."""
        state = "no answer" if tools is None else counted(tools, "tool")
        self._states[id(server)] = f"{state}, done" if tools is not None else state
        if self._live:
            self._draw()
        else:
            say(f"{self._names[id(server)]}: {state}")

    def _draw(self) -> None:
        self._wipe()
        lines = [f"{self._names[each]}: {state}" for each, state in self._states.items()][:_ROWS]
        put_aside("".join(f"{line}\n" for line in lines))
        self._drawn = len(lines)
        self._next = monotonic() + _SELDOM

    def _wipe(self) -> None:
        if self._drawn:
            put_aside(f"\r\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0
