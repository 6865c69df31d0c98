"""Run a program until all its processes have ended: read its output, and send the signals that are due."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import monotonic
from typing import IO

from stagec.world.escalation import Escalation
from stagec.world.supervisor_link import Job, Link, await_end

Sink = Callable[[bytes], None]
"""What takes the output of a program, piece by piece and without bound."""

_CHUNK = 65_536
_PATIENCE = 0.5
"""Seconds in which what a program wrote before it ended must arrive, while others hold its streams open."""
_LEFT = 4_000_000
"""Bytes that a pipe may still hold when all who wrote to it are gone."""


class SupervisedProgram:
    """A program whose output goes to two sinks, and which ends as its escalation says.

    `warn` is called for an alarm without a signal.
    """

    def __init__(self, link: Link, escalation: Escalation, warn: Callable[[], None] | None = None) -> None:
        self._link, self._escalation = link, escalation
        self._warn = warn

    def abort(self) -> None:
        """Let the signals begin now; in any thread, and at any time."""
        self._escalation.hasten()
        if self._link.is_started:
            self._link.signal(0)  # no signal: the supervisor answers, and whoever waits for it looks at the clock

    def attend(self, job: Job, sinks: tuple[Sink, Sink], given: bytes | None = None) -> None:
        """Run a program; nothing of it is left when this returns. Its status is in the link.

        `given` is what it can read from its standard input.

        Raise `OSError` and `ValueError` for what cannot be started.
        """
        with subprocess.Popen(
            self._link.command,
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=self._link.list_inherited(job),
        ) as process:
            streams = [_Stream(*each) for each in zip((process.stdout, process.stderr), sinks, strict=True)]
            try:
                self._link.begin(job)
                self._escalation.start()
                self._listen([*streams, *_feed(process.stdin, given)])
            finally:
                self._link.close()
                await_end(process)
                if (process.returncode or 0) < 0:  # the program may kill its supervisor
                    self._link.kill_orphans()
            for each in streams:
                each.drain()
        self._link.refuse_error()

    def _listen(self, streams: Iterable[_Stream | _Feed]) -> None:
        """Read until the program has ended and its streams too, or others hold them open, or it must be killed."""
        last: float | None = None
        with selectors.DefaultSelector() as selector:
            sources: tuple[Link | _Stream | _Feed, ...] = (self._link, *streams)
            for each in sources:
                waits_for = selectors.EVENT_WRITE if isinstance(each, _Feed) else selectors.EVENT_READ
                selector.register(each, waits_for, each)
            while selector.get_map():
                seconds = self._escalation.wait() if last is None else max(0.0, last - monotonic())
                _take(selector, seconds)
                if last is None and self._link not in {key.data for key in selector.get_map().values()}:
                    last = monotonic() + _PATIENCE
                if (last is not None and monotonic() >= last) or (last is None and self._must_kill()):
                    return

    def _must_kill(self) -> bool:
        """Send the signals that are due; tell whether there is nothing left but to kill the program."""
        while (alarm := self._escalation.take()) is not None:
            if alarm.signal == signal.SIGKILL:
                return True
            if alarm.signal:
                self._link.signal(alarm.signal)
            elif self._warn is not None:
                self._warn()
        return False


class _Stream:
    """An output of a program."""

    def __init__(self, stream: IO[bytes] | None, sink: Sink) -> None:
        if stream is None:
            raise ValueError(stream)
        self._descriptor, self._sink = stream.fileno(), sink

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._descriptor

    def read(self) -> bool:
        """Take what is there; tell whether more may come."""
        chunk = os.read(self._descriptor, _CHUNK)
        if chunk:
            self._sink(chunk)
        return bool(chunk)

    def drain(self) -> None:
        """Take what is left when nobody writes any more; what escaped and still holds it open is not waited for."""
        os.set_blocking(self._descriptor, False)
        with suppress(BlockingIOError):
            for _ in range(0, _LEFT, _CHUNK):
                if not self.read():
                    return


class _Feed:
    """The standard input of a program: it gets what is there for it as fast as it reads, or stops reading."""

    def __init__(self, stream: IO[bytes], given: bytes) -> None:
        self._stream, self._rest = stream, memoryview(given)
        os.set_blocking(stream.fileno(), False)

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._stream.fileno()

    def read(self) -> bool:
        """Hand over a piece, and the end after the last; tell whether there is more."""
        try:
            self._rest = self._rest[os.write(self.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # the program reads no more
            self._rest = self._rest[:0]
        return bool(self._rest)

    def close(self) -> None:
        """Let the program see the end."""
        self._stream.close()


def _feed(stream: IO[bytes] | None, given: bytes | None) -> Iterator[_Feed]:
    if stream is not None and given is not None:
        yield _Feed(stream, given)


def _take(selector: selectors.BaseSelector, seconds: float | None) -> None:
    """Take what has arrived, and listen no longer to streams that have ended."""
    for key, _ in selector.select(seconds):
        if not key.data.read():
            selector.unregister(key.fileobj)
            if isinstance(key.data, _Feed):
                key.data.close()
