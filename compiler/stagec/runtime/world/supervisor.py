"""The process between stagec and a program: when stagec ends, it ends the program with all its children.

It is run as a script that imports nothing of ours: `python -I -S supervisor.py FD`. Through the socket FD comes the
job, and back goes how the program ended. When the other end closes, or its process is gone, every process that is left
is killed. On Linux orphans become children of this process, so that none escapes by leaving its session; elsewhere the
session of the program is killed.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys

TYPE_CHECKING = False  # the real one, and what it is for, take longer to import than all of this takes to run
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_INT, _QUIT, _KILL, _PIPE, _TERM, _XFSZ = 2, 3, 9, 13, 15, 25
"""Signals by number: the module that names them takes as long to import as all of this takes to run."""
_DEFAULT = (_INT, _QUIT, _PIPE, _TERM, _XFSZ)
"""The signals that end a program by default: Python ignores some, and so may the starter of stagec."""
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_TICK = 20
"""Milliseconds between two looks, where no file descriptor tells that a process has ended."""
_CALM = 500
_CHUNK = 65_536
_MOST = 1_000_000
"""Bytes of a list of children that are read at a time; those that are left come next."""
_HEAD = 10
"""Digits of the length that comes before the job."""


def main() -> None:
    """Read the job, run it, report how it ended, and leave nothing of it behind."""
    link = int(sys.argv[1])
    os.set_inheritable(link, False)
    parent, folder, count, *texts = _receive(link, int(_receive(link, _HEAD))).split(b"\0")
    library: Any = ctypes.CDLL(None)
    is_linux = sys.platform == "linux"
    if is_linux:
        library.prctl(_SET_CHILD_SUBREAPER, 1)
    words, environment = texts[: int(count)], dict(each.split(b"=", 1) for each in texts[int(count) :])
    program, trouble = _start(library, folder, words, environment)
    if trouble:
        _tell(link, b"trouble %d\n" % trouble)
        return
    _tell(link, b"started %d\n" % program)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # whoever reads what the program writes must not wait for this process
        os.dup2(nowhere, stream)
    is_over = _attend(program, link, int(parent))
    if not is_over or not is_linux:
        _signal_group(program, _KILL)
    _end_children()


def _receive(link: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(link, min(_CHUNK, size - len(data)))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def _tell(link: int, news: bytes) -> None:
    try:
        os.write(link, news)
    except OSError:  # stagec is gone: whatever is left has to be killed all the same
        return


def _start(library: Any, folder: bytes, words: list[bytes], environment: dict[bytes, bytes]) -> tuple[int, int]:
    """Start the program in a session of its own; return its process and the number of the error, 0 for none."""
    told, telling = os.pipe()
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            if sys.platform == "linux":
                library.prctl(_SET_PDEATHSIG, _KILL)
            for number in _DEFAULT:
                library.signal(number, None)
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        except OSError as error:
            os.write(telling, b"%d" % (error.errno or 1))
        finally:
            os._exit(1)
    os.close(telling)
    trouble = int(os.read(told, _HEAD) or b"0")
    os.close(told)
    return program, trouble


def _attend(program: int, link: int, parent: int) -> bool:
    """Wait until nobody is interested any more; report the end of the program, and tell whether it has ended."""
    poll = select.poll()
    for each in (link, *_descriptors(program, parent)):
        poll.register(each, select.POLLIN)
    calm = _CALM if hasattr(os, "pidfd_open") else _TICK
    is_over = False
    while os.getppid() == parent:
        ready = {each for each, _ in poll.poll(calm)}
        for process, status in _reap():
            if process == program:
                is_over = True
                _tell(link, b"ended %d\n" % os.waitstatus_to_exitcode(status))
        if link in ready and not _obey(link, None if is_over else program):
            break
        for each in ready - {link}:  # it says the same for ever
            poll.unregister(each)
    return is_over


def _obey(link: int, program: int | None) -> bool:
    """Send the program the signal that is asked for; tell whether somebody is still interested."""
    try:
        asked = os.read(link, 1)
    except OSError:
        return False
    if asked and program is not None:
        _signal_group(program, asked[0])
        _tell(link, b"sent %d\n" % asked[0])
    return bool(asked)


def _descriptors(*processes: int) -> Iterator[int]:
    """Yield descriptors that signal the ends of processes, if the system has them."""
    if hasattr(os, "pidfd_open"):
        for each in processes:
            try:
                yield os.pidfd_open(each)
            except OSError:  # the process is gone, or the system is older
                continue


def _reap() -> Iterator[tuple[int, int]]:
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process == 0:
            return
        yield process, status


def _signal_group(program: int, number: int) -> None:
    try:
        os.killpg(program, number)
    except (ProcessLookupError, PermissionError):
        return


def _end_children() -> None:
    """Kill the children of this process until there are none: those of a child that was killed come after it."""
    while True:
        for child in _children():
            try:
                os.kill(child, _KILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", "rb") as file:
            return [int(each) for each in file.read(_MOST).split()]
    except OSError:  # a system without it
        return []


if __name__ == "__main__":
    main()
