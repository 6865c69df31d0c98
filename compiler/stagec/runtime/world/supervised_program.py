"""Run a program until all its processes have ended: read its output, and send the signals that are due."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import IO, Any

from stagec.core.disk import write_all
from stagec.core.failure import Failure
from stagec.core.json import Object, object_of
from stagec.core.json_reader import UnreadableError, parse_json
from stagec.core.secrets import LONGEST, Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import quote

TIMEOUT, ABORT = "timeout", "abort"


@value
class Alarm:
    """An action so many milliseconds after the start of a program: a signal is sent; 0 is a warning to others."""

    milliseconds: float
    signal: int = 0


class Escalation:
    """The alarms of one program, in their order, each of which is taken once when it is due.

    `reason` is why a signal was sent, None as long as none was: it never becomes None again.
    """

    def __init__(self, alarms: tuple[Alarm, ...] = (), clock: Callable[[], float] = monotonic) -> None:
        self._alarms, self._clock = alarms, clock
        self._next = 0
        self._begin = clock()
        self._shift = 0.0
        self._lock = Lock()
        self._is_hastened = False
        self.reason: str | None = None

    def start(self) -> None:
        """Count from now."""
        self._begin = self._clock()

    @property
    def seconds(self) -> float:
        """How long the program runs."""
        return self._clock() - self._begin

    def wait(self) -> float | None:
        """Return the seconds until the next alarm, 0 for one that is due; None when none is left."""
        with self._lock:
            if self._next == len(self._alarms):
                return None
            due = self._alarms[self._next].milliseconds / 1000 + self._shift
            return max(0.0, due - self.seconds)

    def take(self) -> Alarm | None:
        """Return the next alarm if it is due."""
        if self.wait() != 0:
            return None
        with self._lock:
            alarm = self._alarms[self._next]
            self._next += 1
            if alarm.signal and self.reason is None:
                self.reason = ABORT if self._is_hastened else TIMEOUT
            return alarm

    def hasten(self) -> None:
        """Let the first signal be due now, and the others as long after it as they were; in any thread."""
        with self._lock:
            if self.reason is not None:
                return
            while self._next < len(self._alarms) and not self._alarms[self._next].signal:
                self._next += 1
            if self._next < len(self._alarms):
                self._is_hastened = True
                self._shift = self.seconds - self._alarms[self._next].milliseconds / 1000


MOST = 10_000_000
"""Bytes of each output of an attempt that are kept in the log; markers are read in what comes after that as well."""
_PROGRAM_LOG_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*\Z")
_HEAD = "-----BEGIN PRIVATE KEY-----\n"


class RunLog:
    """A file to whose end whole lines are written, in any thread; `trouble` is why the first of them were lost."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()
        self.trouble: OSError | None = None

    def write(self, text: str) -> None:
        """Write lines; a disk that is full or a file that is gone never ends a stage, it is kept as `trouble`."""
        with self._lock:
            try:
                if self.trouble is None:
                    write_all(self._descriptor, text.encode(errors="replace"))
            except OSError as error:
                self.trouble = error

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


class LogStream:
    """One output of a program on its way to a log: whole lines, redacted; of very long lines the beginning.

    Beyond `most` bytes nothing is kept. `last` is the last line that is not blank, as far as lines are kept.
    """

    def __init__(self, log: RunLog, redactor: Redactor, most: float = MOST) -> None:
        self._log, self._redactor = log, redactor
        self._room = self._most = most
        self._rest = bytearray()
        self._is_cut = False
        self._is_in_key = False
        self.last = ""

    def take(self, piece: bytes) -> None:
        """Take a further piece of the stream."""
        if self._room <= 0:
            return
        self._rest += piece
        end = self._rest.rfind(b"\n") + 1
        if self._is_cut and not end:
            self._rest.clear()
            return
        if end:
            begin = self._rest.find(b"\n") + 1 if self._is_cut else 0
            self._is_cut = False
            self._write(bytes(self._rest[begin:end]))
            del self._rest[:end]
        if len(self._rest) > 2 * LONGEST:  # more is looked at than is kept, so that no secret is cut in two
            self._write(bytes(self._rest), cut=True)
            self._rest.clear()
            self._is_cut = True

    def close(self) -> None:
        """Write the last line if nothing has ended it."""
        if self._rest and not self._is_cut:
            self.take(b"\n")

    def _write(self, lines: bytes, *, cut: bool = False) -> None:
        text = lines.decode(errors="replace")
        text = _HEAD + text if self._is_in_key else text
        self._is_in_key = _PROGRAM_LOG_KEY.search(text) is not None
        text = self._redactor.redact_output(text)
        text = f"{text[:LONGEST]} […]\n" if cut else text
        self._room -= len(lines)
        self.last = next((each for each in reversed(text.splitlines()) if each.strip()), self.last)
        self._log.write(text if text.endswith("\n") or not text else f"{text}\n")
        if self._room <= 0:
            self._log.write(f"[…] {self._most:,} bytes of an output are kept\n")


_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_SUPERVISOR_LINK_PATIENCE = 10.0
"""Seconds in which the supervisor must take its job."""
_SUPERVISOR_LINK_SHORT = 0.3
"""Seconds to wait until everything has been killed, while somebody waits for the end of stagec."""
_SUPERVISOR_LINK_CHUNK = 4096


@value
class Job:
    """A program to start: its words, its whole environment, its folder, and a file that all of its processes hold."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = NOTHING
    folder: str = "."
    held: int | None = None


class Link:
    """The connection with a supervisor: it is told its job, and tells how the program ended.

    `status` is the exit status of the program, negative for a signal; `error` is why it could not be started. Both are
    None as long as it runs, and after a supervisor that was killed. `is_started` tells whether either can be known.
    """

    def __init__(self) -> None:
        if not hasattr(os, "killpg"):
            raise Failure(
                "stagec runs programs only on POSIX systems: let a scenario answer for them, under 'commands'"
            )
        self.socket, self._others = socket.socketpair()
        self._rest = b""
        self.is_started = False
        self._program: int | None = None
        self.status: int | None = None
        self.error: OSError | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of the supervisor."""
        return (sys.executable, "-I", "-S", _SUPERVISOR, str(self._others.fileno()))

    def arrange(self, job: Job, **streams: int) -> dict[str, Any]:
        """Return how the supervisor of a job is started: its streams, its session, and what it inherits."""
        inherited = (self._others.fileno(),) if job.held is None else (self._others.fileno(), job.held)
        return {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **streams,
            "start_new_session": True,
            "pass_fds": inherited,
        }

    def start(self, job: Job, **streams: int) -> subprocess.Popen[bytes]:
        """Start the supervisor of a job, which `begin` hands over."""
        return subprocess.Popen(self.command, **self.arrange(job, **streams))

    def begin(self, job: Job) -> None:
        """Hand over the job; raise `ValueError` for what no program can be given."""
        pairs = [f"{name}={given}" for name, given in job.environment.items()]
        texts = (str(os.getpid()), job.folder, str(len(job.words)), *job.words, *pairs)
        fields = [os.fsencode(each) for each in texts]
        if any(b"\0" in each for each in fields):
            raise ValueError("embedded null byte")
        data = b"\0".join(fields)
        self._others.close()
        self.socket.settimeout(_SUPERVISOR_LINK_PATIENCE)
        self.socket.sendall(b"%10d" % len(data) + data)

    def fileno(self) -> int:
        """Return the descriptor on which news arrive."""
        return self.socket.fileno()

    def read(self) -> bool:
        """Take the messages of the supervisor; return whether more may come."""
        try:
            return self.take(self.socket.recv(_SUPERVISOR_LINK_CHUNK))
        except OSError:  # it was killed
            return False

    def take(self, chunk: bytes) -> bool:
        """Take a part of what the supervisor tells; return whether more may come."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            kind, _, number = line.partition(b" ")
            self.is_started = True
            if kind == b"started":
                self._program = int(number)
            elif kind == b"ended":
                self.status = int(number)
            elif kind == b"trouble":
                self.error = OSError(int(number), os.strerror(int(number)))
        return bool(chunk) and self.status is None and self.error is None

    def refuse_error(self) -> None:
        """Raise why the program could not be started, if that is known."""
        if self.error is not None:
            raise self.error

    def signal(self, number: int) -> None:
        """Send a signal to the program and to whatever shares its session."""
        with suppress(OSError):
            self.socket.sendall(bytes((number,)))

    def stop(self) -> None:
        """End the program as `close` does; another thread may wait for its messages."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go: everything that is left of the program is killed."""
        self._others.close()
        self.socket.close()

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Let go, and wait until the supervisor has killed everything, but not for ever: it goes on by itself."""
        self.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SUPERVISOR_LINK_SHORT)
        self.kill_orphans(process.returncode)

    def kill_orphans(self, status: int | None) -> None:
        """Kill the process group of a program whose supervisor was killed: the program may do that."""
        if status is not None and status < 0 and self._program is not None:
            with suppress(OSError):
                os.killpg(self._program, signal.SIGKILL)


_LONGEST = 64_000_000
"""Bytes of one line."""
_LINE_PROGRAM_SHORT = 2.0
"""Seconds in which a program may end by itself once its standard input is closed."""
_SHOWN = 200
_LINE_PROGRAM_CHUNK = 65_536


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
        self._process = self._link.start(job, stderr=subprocess.DEVNULL if errors is None else subprocess.PIPE)
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
            self._link.end(self._process)
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
        """Send a line; the reader of the program's output notices its end."""
        with suppress(OSError):
            self.write(message)

    def end(self) -> None:
        """Close its standard input, let it end by itself for a moment, and kill whatever is left of it."""
        with suppress(OSError):  # what could not be written is lost
            self._input.close()
        self._link.socket.settimeout(_LINE_PROGRAM_SHORT)
        while self._link.status is None and self._link.read():
            pass
        self.kill()

    def kill(self) -> None:
        """Kill the program and everything that it has started."""
        self._link.end(self._process)

    def close_streams(self) -> None:
        """Close its streams, once nobody reads any more; what it wrote to standard error may arrive before."""
        if self._listener is not None:
            self._listener.join(_LINE_PROGRAM_SHORT)
        for each in (self._input, self._output):
            with suppress(OSError):
                each.close()


_LINE_PROGRAM_KEY = re.compile(rb'"key"\s*:\s*("(?:[^"\\]|\\.)*")')


def list_keys(line: bytes) -> list[str]:
    """Return the keys of requests that may be meant by a line that is no JSON."""
    keys = []
    for found in _LINE_PROGRAM_KEY.finditer(line):
        with suppress(UnreadableError):
            keys.append(str(parse_json(found[1])))
    return keys


def _pass_on(stream: IO[bytes], errors: LogStream) -> None:
    """Pass on what a program writes to standard error, until nothing holds it open any more."""
    with stream:
        while chunk := os.read(stream.fileno(), _LINE_PROGRAM_CHUNK):
            errors.take(chunk)
    errors.close()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("the program has its streams")
    return stream


Sink = Callable[[bytes], None]
"""Takes the output of a program, piece by piece and without bound."""
_SUPERVISED_PROGRAM_PATIENCE = 0.5
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
        with self._link.start(job, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE) as process:
            streams = [_Stream(*each) for each in zip((process.stdout, process.stderr), sinks, strict=True)]
            try:
                self._link.begin(job)
                self._escalation.start()
                self._listen([*streams, *_feed(process.stdin, given)])
            finally:
                self._link.end(process)
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
                    last = monotonic() + _SUPERVISED_PROGRAM_PATIENCE
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
        """Take the available output; tell whether more may come."""
        chunk = os.read(self._descriptor, _LINE_PROGRAM_CHUNK)
        if chunk:
            self._sink(chunk)
        return bool(chunk)

    def drain(self) -> None:
        """Take the rest when nobody writes any more; do not wait for an escaped process that still holds it open."""
        os.set_blocking(self._descriptor, False)
        with suppress(BlockingIOError):
            for _ in range(0, _LEFT, _LINE_PROGRAM_CHUNK):
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
            self._rest = self._rest[os.write(self.fileno(), self._rest[:_LINE_PROGRAM_CHUNK]) :]
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
    """Take the arrivals, and listen no longer to streams that have ended."""
    for key, _ in selector.select(seconds):
        if not key.data.read():
            selector.unregister(key.fileobj)
            if isinstance(key.data, _Feed):
                key.data.close()
