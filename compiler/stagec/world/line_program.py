"""A program that exchanges JSON lines over its standard streams, and that ends with this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import suppress
from threading import Thread
from typing import IO

from stagec.core.json import Object, object_of
from stagec.core.json_reader import UnreadableError, parse_json
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.program_log import LogStream
from stagec.world.supervisor_link import Job, Link, await_end

_LONGEST = 64_000_000
"""Bytes of one line."""
_SHORT = 2.0
"""Seconds in which a program may end by itself once its standard input is closed."""
_SHOWN = 200
_CHUNK = 65_536


@value
class UnreadableLine:
    """A line that is not JSON: the reason, and the message for a line that answers no open request."""

    line: bytes
    why: str
    told: str


class LineProgram:
    """Runs a program under a supervisor; one thread reads, and whoever writes takes turns.

    Raises `OSError` or `ValueError` when the program cannot be started. What it writes to standard error goes to
    `errors`, or nowhere.
    """

    def __init__(self, job: Job, errors: LogStream | None = None) -> None:
        self._link = Link()
        self._process = subprocess.Popen(
            self._link.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if errors is None else subprocess.PIPE,
            start_new_session=True,
            pass_fds=self._link.list_inherited(job),
        )
        self._input, self._output = _stream(self._process.stdin), _stream(self._process.stdout)
        self._listener: Thread | None = None
        if errors is not None:
            self._listener = Thread(target=_pass_on, args=(_stream(self._process.stderr), errors), daemon=True)
            self._listener.start()
        try:
            self._link.begin(job)
            while not self._link.is_started and self._link.read():
                pass
            self._link.refuse_error()
        except (OSError, ValueError):
            self._link.close()
            await_end(self._process)
            self.close_streams()
            raise

    def take_line(self) -> Object | UnreadableLine | str:
        """Return the next line of the program, or why there is none; what in an object is no JSON stays in it."""
        line = self._output.readline(_LONGEST)
        if not line:
            return "it has ended"
        shown = f"it wrote a line that is not a JSON object: {quote(line[:_SHOWN].decode(errors='replace').strip())}"
        try:
            told = parse_json(line)
        except UnreadableError as error:
            return UnreadableLine(line, str(error), shown)
        return object_of(told) if isinstance(told, dict) else shown

    def write(self, message: Object) -> None:
        """Send a line; raise `OSError` when nobody reads it."""
        self._input.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self._input.flush()

    def write_or_drop(self, message: Object) -> None:
        """Send a line; whoever reads what the program writes hears that it has ended."""
        with suppress(OSError):
            self.write(message)

    def end(self) -> None:
        """Close its standard input, let it end by itself for a moment, and kill whatever is left of it."""
        with suppress(OSError):  # what could not be written is lost
            self._input.close()
        self._link.socket.settimeout(_SHORT)
        while self._link.status is None and self._link.read():
            pass
        self.kill()

    def kill(self) -> None:
        """Kill the program and everything that it has started."""
        self._link.close()
        await_end(self._process)

    def close_streams(self) -> None:
        """Close its streams, once nobody reads any more; what it wrote to standard error may arrive before."""
        if self._listener is not None:
            self._listener.join(_SHORT)
        for each in (self._input, self._output):
            with suppress(OSError):
                each.close()


_KEY = re.compile(rb'"key"\s*:\s*("(?:[^"\\]|\\.)*")')


def list_keys(line: bytes) -> list[str]:
    """Return the keys of requests that may be meant by a line that is no JSON."""
    keys = []
    for found in _KEY.finditer(line):
        with suppress(UnreadableError):
            keys.append(str(parse_json(found[1])))
    return keys


def _pass_on(stream: IO[bytes], errors: LogStream) -> None:
    """Pass on what a program writes to standard error, until nothing holds it open any more."""
    with stream:
        while chunk := os.read(stream.fileno(), _CHUNK):
            errors.take(chunk)
    errors.close()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("the program has its streams")
    return stream
