"""Server-sent events: what has changed of all runs, and everything that is new of one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from stagec.core.json import Json
from stagec.drivers.following import UnreachableError
from stagec.serve.watch import Watch

_PAUSE = 0.25
"""Seconds between two messages: people do not read faster, and a page has to draw what it is told."""
_SILENCE = 15.0
"""Seconds after which a comment is sent, so that a connection which is gone is noticed."""
_NUMBERS, _DIGITS = 2, 15
_MOST = 100
"""Streams that may be open."""
_ROWS = 500
"""Rows of a journal in one message."""


class StreamRegister:
    """The streams that are open, which all end together."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more."""
        return len(self._open) >= _MOST

    def add(self, stream: Stream) -> None:
        """Take note of a stream that is open."""
        self._open.add(stream)

    def remove(self, stream: Stream) -> None:
        """Forget a stream that is over."""
        self._open.discard(stream)

    def close(self) -> None:
        """End every stream."""
        for stream in self._open:
            stream.close()


class Stream:
    """What one page is told.

    Its place is `boot.version.rows`, so that a page which was away goes on after it, or `from.0.rows` to begin with.
    """

    def __init__(self, watch: Watch, boot: str, run: str | None, place: str) -> None:
        self._watch, self._boot, self._run = watch, boot, run
        self._version = self._rows = self._seen = 0
        self._trouble = ""
        self._wake, self._loop, self._is_closed = asyncio.Event(), asyncio.get_running_loop(), False
        known, *numbers = place.split(".")
        if known in {boot, "from"} and all(map(_is_number, numbers)) and len(numbers) == _NUMBERS:
            self._version, self._rows = map(int, numbers)

    async def list_messages(self, describe: Callable[[str], Json]) -> AsyncIterator[bytes]:
        """Yield messages for as long as somebody listens; `describe` says how a run stands."""
        stop = self._watch.listen(self._call)
        try:
            yield b"retry: 1000\n\n"
            while not self._is_closed:
                self._wake.clear()
                message = await asyncio.to_thread(self._compose, describe)
                if message:
                    yield message
                    await asyncio.sleep(_PAUSE)
                try:
                    await asyncio.wait_for(self._wake.wait(), _SILENCE)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            stop()

    def close(self) -> None:
        """End it after what it is sending."""
        self._is_closed = True
        self._wake.set()

    def _call(self) -> None:
        """Wake this from another thread, unless its loop has just ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake.set)

    def _compose(self, describe: Callable[[str], Json]) -> bytes:
        """Return what is new, each kind in one event."""
        changes = self._watch.list_changes(self._version)
        told: list[bytes] = []
        trouble = self._watch.trouble
        if changes.rows or changes.gone or not self._version or trouble != self._trouble:
            rows: Json = [each.to_json() for each in changes.rows]
            told.append(_format("rows", {"rows": rows, "gone": list(changes.gone), "trouble": trouble}))
            self._trouble = trouble
        self._version = changes.version
        if self._run is not None:
            told.extend(self._compose_run(self._run, describe))
        if told:  # whoever has the last event has all of them
            told[-1] = f"id: {self._boot}.{self._version}.{self._rows}\n".encode() + told[-1]
        return b"".join(told)

    def _compose_run(self, name: str, describe: Callable[[str], Json]) -> list[bytes]:
        try:
            run = self._watch.find(name)
        except UnreachableError:  # the trouble is told with the rows
            return []
        if run is None or run.version == self._seen:
            return []
        self._seen = run.version
        with self._watch.lock:
            view = run.view
            if view is None:
                return [_format("run", describe(name))]
            begins = self._rows > len(view.rows)
            first = 0 if begins else self._rows
            rows: Json = [each.to_json() for each in view.rows[first:][-_ROWS:]]
            self._rows = len(view.rows)
        news: Json = {"events": rows, "count": self._rows, "begins": begins}
        return [_format("run", describe(name)), *([_format("journal", news)] if rows or begins else [])]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS


def _format(event: str, given: Json) -> bytes:
    return f"event: {event}\ndata: {json.dumps(given, separators=(',', ':'))}\n\n".encode()
