"""Processes that execute stagec and are born with it loaded: to load it takes longer than most tests.

A process has loaded stagec and does nothing else. For each job it forks a child, which gets its streams, a folder and
an environment, and then does what `python -m stagec` does, or another module. In a full run of campaigns, one command
line of eight is first executed by a new Python, and in a whole run, each by one whenever it is.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import random
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from runpy import run_module
from traceback import print_exc
from typing import Any, BinaryIO, NamedTuple, Protocol
from zlib import crc32

from campaigns import SIZE

COMPILER = Path(__file__).parents[1] / "compiler"
STAGEC = (sys.executable, "-m", "stagec")
_ROOM = 1 << 20
_PIPE = 1 << 15
"""Bytes that every pipe holds."""
_NEW_PYTHONS = {"full": 1, "whole": 8}
"""How many processes of eight are a new Python, by the size of campaigns."""
_EXECUTED = set[str]()
"""The words of the jobs of this process."""
_OF_PYTHON = ("PYTHON", "LC_", "LANG")
"""Beginnings of the variables that Python reads when it starts."""
_AROUND = {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(COMPILER)}
"""Those that the nursery has; a job with others needs a Python that starts, but it may find modules in more folders."""
_LOADED = (
    "stagec.cli.commands",
    "stagec.cli.running",
    "stagec.runtime.drivers",
    "stagec.check.reporters",
    "stagec.check.rules",
)
"""Packages whose modules the nursery loads, with all that they import."""
_LIBRARIES = {
    "tools": ("mcp.client.stdio", "anyio._backends._asyncio"),
    "--model": ("mcp.client.stdio", "pydantic_ai.direct", "pydantic_ai.models.openai", "genai_prices"),
}
"""What it loads, too, before the first job with one of these words."""


def environment(**more: str) -> dict[str, str]:
    """Return an environment without anything that changes what is printed, but with what is given."""
    names = ("PATH", "HOME", "XDG_STATE_HOME", "TMPDIR", "SYSTEMROOT")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, **_AROUND, "STAGEC_NO_CACHE": "1", **more}


def inherit(**more: str) -> dict[str, str]:
    """Return the environment of this process, with what is given; modules of tests are found, too."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith(("PYTEST", "COV", *_OF_PYTHON))}
    return {**kept, **_AROUND, "PYTHONPATH": f"{COMPILER.parent / 'tests'}{os.pathsep}{COMPILER}", **more}


class Process(Protocol):
    """A process that executes stagec."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None as long as it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once there is one."""

    def kill(self) -> None:
        """Kill the process."""


class Cost(NamedTuple):
    """What a process took: processor time, and the memory at its peak beyond that with which it was born."""

    seconds: float
    megabytes: float


class Child:
    """A process that was born in the nursery."""

    cost: Cost
    """What it took, once it has ended."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._status: int | None = None
        self.pid = int(link.recv(_ROOM))

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None as long as it runs."""
        if self._status is None:
            self._link.setblocking(False)
        with suppress(BlockingIOError):
            return self._take()
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once there is one."""
        if self._status is None:
            self._link.settimeout(timeout)
        return self._take()

    def _take(self) -> int:
        if self._status is None:
            self._status, *cost = json.loads(self._link.recv(_ROOM))
            self.cost = Cost(*cost)
            self._link.close()
        assert self._status is not None
        return self._status

    def kill(self) -> None:
        """Kill the process."""
        if self._status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def start(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    module: str = "stagec",
    *,
    is_group: bool = False,
) -> Process:
    """Start a process that executes stagec, or another module; `streams` are descriptors for its standard streams.

    The process has a group of its own with `is_group`, already when this returns.
    """
    if needs_new_python(words, environment):
        stdin, stdout, stderr = streams
        return subprocess.Popen(
            [*STAGEC[:-1], module, *words], cwd=folder, env=dict(environment), stdin=stdin, stdout=stdout,
            stderr=stderr, process_group=0 if is_group else None,
        )  # fmt: skip
    return bear(words, folder, environment, streams, module, is_group=is_group)


def needs_new_python(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a job is none for the nursery: Python is told something, or a new one is wanted now and then."""
    of_python = {name: each for name, each in environment.items() if name.startswith(_OF_PYTHON)}
    can_be_born = {**of_python, "PYTHONPATH": str(COMPILER)} == _AROUND and str(COMPILER) in _list_paths(environment)
    return not can_be_born or _is_to_be_new(repr(words))


def _list_paths(environment: Mapping[str, str]) -> list[str]:
    return environment.get("PYTHONPATH", "").split(os.pathsep)


def bear(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    module: str = "stagec",
    *,
    is_group: bool = False,
    limit: int | None = None,
) -> Child:
    """Start a process in the nursery; the system ends it after so many seconds of processor time."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(_open_nursery())
    more = [each for each in _list_paths(environment) if each != str(COMPILER)]
    job = {"words": words, "folder": str(folder), "environment": dict(environment), "module": module, "paths": more}
    socket.send_fds(link, [json.dumps({**job, "is_group": is_group, "limit": limit}).encode()], streams)
    return Child(link)


def _is_to_be_new(words: str) -> bool:
    """Tell whether a job is to be done by a new Python; if not by all, words that were executed so are not again."""
    most = _NEW_PYTHONS.get(os.environ.get(SIZE, ""), 0)
    is_new = crc32(words.encode()) % 8 < most and (most == 8 or words not in _EXECUTED)
    _EXECUTED.add(words)
    return is_new


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], text: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Execute stagec, and return how it ended and what it wrote; it reads the text from a pipe."""
    if text is not None and len(text) > _PIPE:
        return subprocess.run(
            [*STAGEC, *words], cwd=folder, env=dict(environment), input=text, capture_output=True, check=False
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _open_input(text) as given:
        status = start(words, folder, environment, (given.fileno(), out.fileno(), err.fileno())).wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([*words], status, out.read(), err.read())


def _open_input(text: bytes | None) -> BinaryIO:
    """Open a pipe with a text in it, or nothing."""
    if text is None:
        return Path(os.devnull).open("rb")
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    return os.fdopen(reading, "rb")


@cache
def _open_nursery() -> str:
    """Start the nursery of this process, and return its address; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="nursery")
    address = f"{folder}/socket"
    around = {name: each for name, each in os.environ.items() if not name.startswith(_OF_PYTHON)}
    process = subprocess.Popen(
        [sys.executable, __file__, address],
        env={**around, **_AROUND},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"

    def close() -> None:
        process.communicate()
        Path(address).unlink()
        Path(folder).rmdir()

    atexit.register(close)
    return address


def _load() -> None:
    import_module("stagec.__main__")
    for name in _LOADED:
        package = import_module(name)
        for each in walk_packages(package.__path__, f"{name}."):
            import_module(each.name)
    gc.collect()
    gc.freeze()


class Nursery:
    """Takes jobs and tells what becomes of their processes, until nobody holds its standard input open."""

    def __init__(self, address: str) -> None:
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server.bind(address)
        self._server.listen()
        self._children: dict[int, tuple[socket.socket, int]] = {}
        self._ends, ended = os.pipe()
        os.set_blocking(ended, False)
        signal.set_wakeup_fd(ended)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Serve jobs."""
        with selectors.DefaultSelector() as waiting:
            for each in (self._server, sys.stdin.buffer, self._ends):
                waiting.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in waiting.select():
                    if key.fileobj is self._server:
                        self._bear()
                    elif key.fileobj is sys.stdin.buffer:
                        return
                    else:
                        os.read(self._ends, 4096)
                self._tell_ends()

    def _bear(self) -> None:
        link, _ = self._server.accept()
        data, streams, _, _ = socket.recv_fds(link, _ROOM, 3)
        job = json.loads(data)
        for name in (name for word in job["words"] for name in _LIBRARIES.get(word, ())):
            with suppress(ImportError):  # whoever needs it says that it is missing
                import_module(name)
        memory = _measure_newborn()
        pid = os.fork()
        if pid == 0:
            _execute(job, streams)
        if job["is_group"]:
            os.setpgid(pid, pid)
        for each in streams:
            os.close(each)
        self._children[pid] = link, memory
        link.send(str(pid).encode())

    def _tell_ends(self) -> None:
        for pid in [*self._children]:
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if ended:
                link, memory = self._children.pop(pid)
                grown = (used.ru_maxrss - memory) / 1024
                with suppress(BrokenPipeError), link:
                    told = (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, grown)
                    link.send(json.dumps(told).encode())


def _measure_newborn() -> int:
    """Return the memory of a process that is born and does nothing: what one is born with is no peak of its own."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.wait4(pid, 0)[2].ru_maxrss


def _execute(job: Any, streams: Sequence[int]) -> None:
    """Become the process of a job; never returns."""
    if job["is_group"]:
        os.setpgid(0, 0)
    random.seed()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    for number, each in enumerate(streams):
        os.dup2(each, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 256)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        old: TextIOWrapper = getattr(sys, name)
        new = open(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    if job["limit"] is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], job["limit"]))
        signal.alarm(4 * job["limit"])
    sys.argv = [job["module"], *job["words"]]
    sys.path[:1] = [job["folder"], *job["paths"]]
    if job["module"] == "stagec":
        import_module("stagec.__main__").main()
    status = 1
    try:
        run_module(job["module"], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  it is told as Python tells it
        print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _load()
    nursery = Nursery(sys.argv[1])
    sys.stdout.write("open\n")
    sys.stdout.flush()
    nursery.serve()
