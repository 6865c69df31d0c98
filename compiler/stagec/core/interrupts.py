"""Requests to end this process, by signals: each ends it within a second, whatever the process is doing.

The first request raises `KeyboardInterrupt` in the main thread, so that everything is left in order. Python can do so
between two instructions only, and native code may hold the interpreter for long. Two things need no interpreter: a
second signal has its default action, because each handler is installed for one signal only; and a watcher, a process
that the handler wakes through a pipe, repeats a signal that has not ended the process in time.

Two things are not interrupted in the middle. A native module that begins may import others, and some abort when that
fails. An event loop would wrap the exception, or lose it; it is told to cancel what it does.
"""

from __future__ import annotations

import _thread
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from types import ModuleType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_PATIENCE = 0.7
"""Seconds in which the first request must have ended the process."""
_SOON = 0.01
"""Seconds until a request that was lost is raised again."""
_GRACE = 0.1
"""Seconds after which a process that outlives even the default action is killed."""
_SHELL = 128
"""Shells add this to the number of the signal that ended a program."""

_MAIN = _thread.get_ident()
"""The thread that signals interrupt, which imports this module."""
_came: list[int] = []
_late: list[int] = []
"""Requests that came while they were held back."""
_holding: list[HeldRequests] = []
"""The blocks that hold requests back in the main thread, one inside another."""


def guard() -> None:
    """Obey requests to end from now on; those that this process was started to ignore are still ignored."""
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    obeyed = [each for each in known if signal.getsignal(each) is not signal.SIG_IGN]
    sys.meta_path[:] = [_Finder if each is PathFinder else each for each in sys.meta_path]
    sys.unraisablehook = _raise_again
    for each in obeyed:
        signal.signal(each, _interrupt)
    if hasattr(os, "fork"):
        _reset_after_one(obeyed)
        with suppress(OSError):  # without room for a process more, only the second request is certain to be obeyed
            _start_watcher(obeyed)


def status() -> int:
    """Return the exit status of a process that was asked to end: 130 after Ctrl-C, 143 after SIGTERM."""
    return _SHELL + (_came[0] if _came else signal.SIGINT)


def lies_behind(error: BaseException | None) -> bool:
    """Tell whether an error is what Python made of a request, for example while it made a class."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _interrupt(number: int, _frame: object) -> None:
    _came.append(number)
    if len(_came) > 1:
        os._exit(status())
    if not _holding:
        raise KeyboardInterrupt
    _late.append(number)
    _holding[-1].obey()


class _Finder(PathFinder):
    """Finds modules as Python does, and lets those that are native begin without interruption."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a module and its loader."""
        spec = super().find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is ExtensionFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(ExtensionFileLoader):
    """Loads a native module; what comes meanwhile is obeyed afterwards."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Load the library of a module, which may do everything by that."""
        with HeldRequests():
            return super().create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Let a module begin."""
        with HeldRequests():
            super().exec_module(module)


class HeldRequests:
    """While this lasts, a request raises nothing: it calls a function, and `KeyboardInterrupt` comes at the end.

    Signals interrupt the main thread alone, so nothing has to be held back in others.
    """

    def __init__(self, obey: Callable[[], object] = int) -> None:
        self.obey = obey

    def __enter__(self) -> None:
        if _thread.get_ident() == _MAIN:
            _holding.append(self)

    def __exit__(self, *_error: object) -> None:
        if self not in _holding:
            return
        _holding.remove(self)
        if _late and _holding:
            _holding[-1].obey()
        elif _late:
            _late.clear()
            raise KeyboardInterrupt


class DeferredRequests(HeldRequests):
    """Holds requests back for work that takes time to be left in order: nothing repeats the first one.

    A second request ends the process at once, whatever it is doing.
    """

    def __enter__(self) -> None:
        super().__enter__()
        self._told = signal.set_wakeup_fd(-1) if self in _holding else -1

    def __exit__(self, *error: object) -> None:
        if self in _holding:
            signal.set_wakeup_fd(self._told, warn_on_full_buffer=False)
        super().__exit__(*error)


class EndRequests:
    """While this lasts, any thread may ask this process to end in order, as Ctrl-C does; the main thread enters it.

    Such a request comes as `SIGUSR1`, which interrupts what the main thread waits for. It is not repeated, and nothing
    comes of one in a process that is ending already.
    """

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._is_heard = False

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGUSR1, self._hear)
        self._is_heard = True

    def __exit__(self, *_error: object) -> None:
        self.ignore()
        signal.signal(signal.SIGUSR1, self._before or signal.SIG_DFL)

    def send(self) -> None:
        """Ask the process to end."""
        with self._lock:
            if self._is_heard:
                signal.pthread_kill(_MAIN, signal.SIGUSR1)

    def ignore(self) -> None:
        """Hear no request any more."""
        with self._lock:
            self._is_heard = False

    def _hear(self, _number: int, frame: object) -> None:
        if self._is_heard and not _came:
            _interrupt(signal.SIGINT, frame)


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise a request again that came while Python ran a destructor or a callback, from which no exception gets out.

    A thread does it, because this function is still called from there.
    """
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return

    def repeat() -> None:
        import ctypes

        time.sleep(_SOON)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(_MAIN), ctypes.py_object(KeyboardInterrupt))

    with suppress(RuntimeError):  # no thread can be started any more: the watcher repeats the signal
        _thread.start_new_thread(repeat, ())


def _reset_after_one(numbers: list[int]) -> None:
    """Give every further signal its default action, as `SA_RESETHAND` does it; Python has no name for that."""
    layout = {"linux": (136, 0x8000_0000), "darwin": (12, 0x4)}.get(sys.platform)  # offset of the flags, and the flag
    if layout is None or sys.maxsize < 1 << 32:
        return  # the watcher kills what outlives the second signal
    import ctypes

    offset, flag = layout
    sigaction = ctypes.CDLL(None).sigaction
    for each in numbers:
        action = ctypes.create_string_buffer(256)
        if sigaction(int(each), None, action) == 0:
            flags = ctypes.c_uint32.from_buffer(action, offset)
            flags.value |= flag
            sigaction(int(each), action, None)


def _start_watcher(numbers: list[int]) -> None:
    """Start the watcher, which ends when this process does."""
    requests, told = os.pipe()
    process = os.getpid()
    if os.fork() == 0:
        try:
            _watch(requests, process, numbers)
        finally:
            os._exit(0)
    os.close(requests)
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)


def _watch(requests: int, process: int, numbers: list[int]) -> None:
    """Wait for a request, give the process time to obey it, and repeat the signal; a second request is repeated now."""
    signal.set_wakeup_fd(-1)
    for each in numbers:  # the terminal sends them to its whole group
        signal.signal(each, signal.SIG_IGN)
    os.closerange(0, requests)  # whoever reads what the process writes must not wait for the watcher
    os.closerange(requests + 1, os.sysconf("SC_OPEN_MAX"))
    first = _next_request(requests, numbers, None)
    if first is None:
        return
    second = _next_request(requests, numbers, time.monotonic() + _PATIENCE)
    for number in (second or first, signal.SIGKILL):
        if os.getppid() == process:
            os.kill(process, number)
            time.sleep(_GRACE)


def _next_request(requests: int, numbers: list[int], end: float | None) -> int | None:
    """Return the signal that comes next; None if the time is over. Without the process, nothing returns."""
    while end is None or time.monotonic() < end:
        patience = None if end is None else max(0.0, end - time.monotonic())
        if select.select([requests], [], [], patience)[0]:
            came = os.read(requests, 1)
            if not came:
                os._exit(0)
            if came[0] in numbers:
                return came[0]
    return None
