"""Programs that a plan names, run as processes: their output within bounds, and nothing of them left behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import IO

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.world.held import Held

_CHUNK = 65_536
_MOST = 1_000_000
"""Bytes of each stream that are kept; what a program writes beyond that is read and dropped."""
_PATIENCE = 0.5
"""Seconds in which what a program wrote before it ended must arrive, while others hold its streams open."""


@value
class Line:
    """A command line: its words, after how many milliseconds it is killed if ever, and variables it is given."""

    words: tuple[str, ...]
    milliseconds: int | None = None
    variables: Mapping[str, str] = NOTHING


def run(line: Line) -> Mapping[str, Json]:
    """Run a program in the current folder and return `{"exit", "stdout", "stderr"}`; `exit` None: it has no status.

    It has none when it could not be started, was killed, or took too long. Whatever it started and left running in
    its process group is killed when it ends, also when this function is interrupted.
    """
    if not hasattr(os, "killpg"):
        raise Failure("programs of plans are run on POSIX systems only; a scenario can answer for them: 'commands'")
    held = Held()  # until nothing of the program is left: a second request to end would leave it behind
    try:
        process = _started(line)
    except (OSError, ValueError) as error:  # a word or a variable with NUL in it is a `ValueError`
        return _answer(None, b"", f"it could not be started: {error}".encode(errors="replace"))
    else:
        return _attended(process, line, held)
    finally:
        held.release()


def _attended(process: subprocess.Popen[bytes], line: Line, held: Held) -> Mapping[str, Json]:
    with process:
        try:
            return _finished(process, line, held)
        finally:
            _kill(process)


def _started(line: Line) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        line.words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **line.variables},
        start_new_session=True,
    )


def _finished(process: subprocess.Popen[bytes], line: Line, held: Held) -> Mapping[str, Json]:
    out, err = (_Collected(stream) for stream in (process.stdout, process.stderr) if stream is not None)
    end = None if line.milliseconds is None else monotonic() + line.milliseconds / 1000
    in_time = _collected(process, (out, err), _Patience(held, end))
    _kill(process)
    status = process.wait()
    if held.is_asked:
        raise KeyboardInterrupt  # a program that was not let finish has no answer
    return _answer(status if in_time and status >= 0 else None, bytes(out.kept), bytes(err.kept))


class _Collected:
    """What has arrived of a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.kept = bytearray()

    def read(self) -> bool:
        """Take what is there; tell whether more may come."""
        chunk = os.read(self.stream.fileno(), _CHUNK)
        self.kept += chunk[: _MOST - len(self.kept)]
        return bool(chunk)


class _Patience:
    """How long to wait for a process: until it takes too long, or somebody asks to end."""

    def __init__(self, held: Held, end: float | None) -> None:
        self._held = held
        self._end = end

    @property
    def is_over(self) -> bool:
        """Whether to wait no longer."""
        return self._held.is_asked or (self._end is not None and monotonic() >= self._end)


def _collected(process: subprocess.Popen[bytes], streams: tuple[_Collected, ...], patience: _Patience) -> bool:
    """Read until the streams end, or the process has ended and others hold them open; tell whether in time."""
    last: float | None = None
    with selectors.DefaultSelector() as selector:
        for each in streams:
            selector.register(each.stream, selectors.EVENT_READ, each)
        while selector.get_map() and not (patience.is_over if last is None else monotonic() >= last):
            last = monotonic() + _PATIENCE if last is None and process.poll() is not None else last
            _take(selector)
    return _ended(process, patience)


def _take(selector: selectors.BaseSelector) -> None:
    """Take what has arrived, and listen no longer to streams that have ended."""
    for key, _ in selector.select(_TICK):
        if not key.data.read():
            selector.unregister(key.fileobj)


_TICK = 0.05
"""Seconds between two looks at whether the process has ended, while nothing arrives."""


def _ended(process: subprocess.Popen[bytes], patience: _Patience) -> bool:
    """Wait for a process that has closed its streams; tell whether it ended in time."""
    while process.poll() is None:
        if patience.is_over:
            return False
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TICK)
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _answer(status: int | None, stdout: bytes, stderr: bytes) -> Mapping[str, Json]:
    return {"exit": status, "stdout": stdout.decode(errors="replace"), "stderr": stderr.decode(errors="replace")}
