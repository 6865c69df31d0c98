"""Programs that a plan names, run as processes: their environment, bounded output, and nothing of them left behind."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import IO

from stagec.core.json import Json
from stagec.core.secrets import LONGEST, Redactor
from stagec.core.value import NOTHING, value
from stagec.world.supervised import Job, Link, await_end

BASE = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that every program gets, besides those whose names begin with `LC_`."""


def select_variables(variables: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a program gets: the basic ones, and those that somebody names."""
    wanted = {*BASE, *named}
    return {name: each for name, each in variables.items() if name in wanted or name.startswith("LC_")}


_CHUNK = 65_536
_MOST = 1_000_000
"""Bytes of each stream that are kept; what a program writes beyond that is read and dropped."""
_PATIENCE = 0.5
"""Seconds in which what a program wrote before it ended must arrive, while others hold its streams open."""


@value
class CommandLine:
    """A command line: its words, after how many milliseconds it is killed if ever, its environment.

    `held` is an open file that every process of the program holds open, whose lock so tells whether any is left.
    """

    words: tuple[str, ...]
    milliseconds: int | None = None
    environment: Mapping[str, str] = NOTHING
    held: int | None = None


def run(line: CommandLine, redactor: Redactor, link: Link | None = None) -> Mapping[str, Json]:
    """Run a program in the current folder and return `{"exit", "stdout", "stderr"}`; `exit` None: it has no status.

    It has none when it could not be started, was killed, or took too long. Whatever it started and left running is
    killed when it ends, and when this process ends in any way. What it wrote is redacted. Somebody who has the `link`
    can stop it.
    """
    link = Link() if link is None else link
    try:
        return _run_supervised(line, link, redactor)
    except (OSError, ValueError) as error:  # a word or a variable with NUL in it is a `ValueError`
        return _describe_failure(error)
    finally:
        link.close()


def _run_supervised(line: CommandLine, link: Link, redactor: Redactor) -> Mapping[str, Json]:
    job = Job(line.words, line.environment, os.getcwd(), line.held)
    with subprocess.Popen(
        link.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=link.list_inherited(job),
    ) as process:
        try:
            link.begin(job)
            out, err = (_Collected(stream) for stream in (process.stdout, process.stderr) if stream is not None)
            in_time = _collect(link, (out, err), line.milliseconds)
        finally:
            link.close()
            await_end(process)
    if link.error is not None:
        return _describe_failure(link.error)
    status = link.status if in_time and link.status is not None and link.status >= 0 else None
    told = "" if in_time else f"stopped after {(line.milliseconds or 0) / 1000:g} s\n"
    return {"exit": status, "stdout": out.text(redactor), "stderr": err.text(redactor) + told}


class _Collected:
    """What has arrived of a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self._kept = bytearray()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self.stream.fileno()

    def read(self) -> bool:
        """Take what is there; tell whether more may come."""
        chunk = os.read(self.stream.fileno(), _CHUNK)
        self._kept += chunk[: _MOST + LONGEST - len(self._kept)]
        return bool(chunk)

    def text(self, redactor: Redactor) -> str:
        """Return what is kept without secrets; more is looked at than is kept, so that none is cut in two."""
        return redactor.redact(self._kept.decode(errors="replace"))[:_MOST]


def _collect(link: Link, streams: tuple[_Collected, ...], milliseconds: int | None) -> bool:
    """Read until the program has ended and its streams too, or others hold them open; tell whether in time."""
    end = None if milliseconds is None else monotonic() + milliseconds / 1000
    last: float | None = None
    with selectors.DefaultSelector() as selector:
        sources: tuple[Link | _Collected, ...] = (link, *streams)
        for each in sources:
            selector.register(each, selectors.EVENT_READ, each)
        while selector.get_map():
            limit = end if last is None else last
            if limit is not None and monotonic() >= limit:
                return last is not None
            _take(selector, None if limit is None else limit - monotonic())
            if last is None and link not in {key.data for key in selector.get_map().values()}:
                last = monotonic() + _PATIENCE
    return True


def _take(selector: selectors.BaseSelector, seconds: float | None) -> None:
    """Take what has arrived, and listen no longer to streams that have ended."""
    for key, _ in selector.select(None if seconds is None else max(0.0, seconds)):
        if not key.data.read():
            selector.unregister(key.fileobj)


def _describe_failure(error: Exception) -> Mapping[str, Json]:
    told = f"it could not be started: {error}".encode(errors="replace").decode()
    return {"exit": None, "stdout": "", "stderr": told}
