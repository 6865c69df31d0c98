"""One model in a file on this machine: the process in which it answers, and the requests that wait for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic

from stagec.core.json import Json, Object, text_in
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.commands import select_variables
from stagec.world.line_program import LineProgram
from stagec.world.models.port import Listener, ModelError, ModelFault
from stagec.world.supervisor_link import Job

_SCRIPT = str(Path(__file__).with_name("llama_process.py"))
_VARIABLES = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
"""What Python may need to find its libraries; the process gets no key of anybody."""
_SHORT = 2.0


class UnknownSchemaError(Exception):
    """No response can be forced to follow a schema."""


@value
class _Exchange:
    """A request that somebody waits for: its key, the process that was asked, and what that says."""

    key: str
    program: LineProgram
    arrival: SimpleQueue[Object]


class LocalModel:
    """Answers one request after the other; the process starts with the first one, and again after it has ended."""

    def __init__(self, path: Path, script: str = _SCRIPT) -> None:
        self._path, self._script = path, script
        self._lock = Lock()
        self._waiting: dict[int, _Exchange] = {}
        self._count = 0
        self._program: LineProgram | None = None
        self._reader: Thread | None = None
        self._is_closed = False

    def ask(self, key: str, asked: Object, seconds: float, listen: Listener | None) -> Object:
        """Return the response as the process tells it; raise `ModelError`, or `UnknownSchemaError`."""
        with self._lock:
            self._count += 1
            number = self._count
            exchange = self._waiting[number] = _Exchange(key, self._open(), SimpleQueue())
            exchange.program.write_or_drop({"is": "ask", "id": number, **asked})
        try:
            return self._follow(exchange.arrival, seconds, listen)
        except Empty:
            self._end(exchange.program)  # also when it hangs; the next request starts another one
            raise ModelError(ModelFault.TIMEOUT, f"no response within {seconds:g} s") from None
        finally:
            with self._lock:
                del self._waiting[number]

    def cancel(self, key: str) -> None:
        """End a request: who waits for it goes on at once, and the process as soon as it can."""
        with self._lock:
            for number, each in self._waiting.items():
                if each.key == key:
                    each.arrival.put({"is": "error", "type": "cancelled"})
                    each.program.write_or_drop({"is": "cancel", "id": number})

    def close(self) -> None:
        """End the process, and everything that waits for it."""
        with self._lock:
            self._is_closed, program = True, self._program
        if program is not None:
            self._end(program)
        if self._reader is not None:
            self._reader.join(_SHORT)

    def _open(self) -> LineProgram:
        """Return the process, which is started if there is none; the lock is held."""
        if self._is_closed:
            raise ModelError(ModelFault.CANCELLED, "the run is over")
        if self._program is None:
            job = Job((sys.executable, "-P", self._script, str(self._path)), select_variables(os.environ, _VARIABLES))
            try:
                self._program = LineProgram(job)
            except (OSError, ValueError) as error:
                raise ModelError(
                    ModelFault.CONNECTION, f"the process of the model cannot be started: {error}"
                ) from error
            self._reader = Thread(target=self._receive, args=(self._program,), daemon=True)
            self._reader.start()
        return self._program

    def _end(self, program: LineProgram) -> None:
        with self._lock:
            if self._program is program:
                self._program = None
        program.kill()

    def _receive(self, program: LineProgram) -> None:
        """Hand on what a process says until it ends; then all who wait for it are told."""
        over: dict[str, Json] = {"is": "error", "type": "ended"}
        while isinstance(told := program.take_line(), Mapping):
            if told.get("is") == "trouble":
                over = {"is": "error", "type": "trouble", "message": text_in(told, "why")}
            number = told.get("id")
            with self._lock:
                exchange = self._waiting.get(number if isinstance(number, int) else 0)
            if exchange is not None:
                exchange.arrival.put(told)
        self._end(program)
        with self._lock:
            left = [each.arrival for each in self._waiting.values() if each.program is program]
        for each in left:
            each.put(over)
        program.close_streams()

    def _follow(self, arrival: SimpleQueue[Object], seconds: float, listen: Listener | None) -> Object:
        """Take what the process says until the response is complete; time counts from when the model begins."""
        until: float | None = None
        while True:
            told = arrival.get(timeout=None if until is None else max(0.0, until - monotonic()))
            match told.get("is"):
                case "begun":
                    until = monotonic() + seconds
                case "text" if listen is not None:
                    listen(text_in(told, "text") or "")
                case "reply":
                    return told
                case "error":
                    raise self._explain(text_in(told, "type"), text_in(told, "message") or "")
                case _:  # what nobody listens to
                    pass

    def _explain(self, kind: str | None, message: str) -> Exception:
        match kind:
            case "schema":
                return UnknownSchemaError(message)
            case "cancelled":
                return ModelError(ModelFault.CANCELLED, "the request was cancelled")
            case "trouble":
                return ModelError(ModelFault.UNKNOWN_MODEL, f"{quote(self._path)} cannot be loaded: {message}")
            case "ended":
                return ModelError(ModelFault.CONNECTION, "the process of the model has ended")
            case _:
                return ModelError(ModelFault.REFUSED, message)
