"""A world that a program in any language is: requests and answers as JSON lines over its standard streams."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.plan.document import Plan
from stagec.runtime.exchange import Effect
from stagec.world.briefing import KINDS, Definitions, brief
from stagec.world.supervised import Job, Link, await_end

PROTOCOL = "stagec.world/1"
"""The version of the protocol, which both sides name."""
_PATIENCE = 30.0
"""Seconds in which a program must say that it is ready."""
_LONGEST = 64_000_000
"""Bytes of one line."""


@value
class Opening:
    """The run that a program answers: its id, its plan and the digest of that, and what knows the tools."""

    run: str
    plan: Plan
    digest: str
    tools: Definitions | None = None


class ProgramWorld:
    """Asks a program, which must be closed when the run is over; it ends with this process, however that ends.

    Several requests may be under way. Raises `Failure` when the program cannot be started, ends, or does not keep to
    the protocol: the run can be resumed.
    """

    def __init__(self, words: tuple[str, ...], opening: Opening) -> None:
        self._name = words[0]
        self._opening = opening
        self._link = Link()
        self._lock = Lock()
        self._waiting: dict[str, SimpleQueue[Object]] = {}
        self._trouble: str | None = None
        self._is_closed = False
        self._process = self._start(words)
        self._first: SimpleQueue[Object | str] = SimpleQueue()
        self._reader = Thread(target=self._receive, daemon=True)
        self._reader.start()
        self._answers = self._greet()

    def takes(self, effect: Effect) -> bool:
        """Tell whether the program has said that it answers requests of this kind."""
        return KINDS[type(effect)] in self._answers

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that other requests may be under way beside one."""
        return True

    def answer(self, effect: Effect) -> Json:
        """Return the answer of the program to a request."""
        arrival: SimpleQueue[Object] = SimpleQueue()
        with self._lock:
            self._refuse_trouble()
            self._waiting[effect.key] = arrival
            self._send(brief(self._opening.plan, effect, self._opening.tools))
        told = arrival.get()
        if "answer" in told:
            return told["answer"]
        why = text_in(told, "failure") or "it gave neither an 'answer' nor a 'failure'"
        raise Failure(f"{quote(self._name)} has no answer to the request {quote(effect.key)}: {why}")

    def cancel(self, key: str) -> None:
        """Tell the program that nobody needs an answer any more."""
        with self._lock:
            arrival = self._waiting.pop(key, None)
            if arrival is not None and self._trouble is None:
                self._send({"is": "cancel", "key": key})
        if arrival is not None:
            arrival.put({"failure": "it was cancelled"})

    def close(self) -> None:
        """Tell the program that the run is over, and end it."""
        if self._is_closed:
            return
        self._is_closed = True
        with self._lock:
            self._trouble = self._trouble or "the run is over"
            with suppress(OSError):
                self._write({"is": "end"})
            with suppress(OSError):  # what could not be written is lost
                _stream(self._process.stdin).close()
        self._link.socket.settimeout(_SHORT)
        while self._link.status is None and self._link.read():  # it may end by itself
            pass
        self._link.close()
        await_end(self._process)
        self._reader.join(_SHORT)
        _stream(self._process.stdout).close()

    def _start(self, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
        job = Job(words, dict(os.environ), os.getcwd())
        process = subprocess.Popen(
            self._link.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=self._link.list_inherited(job),
        )
        try:
            self._link.begin(job)
            while not self._link.is_started and self._link.read():
                pass
            self._link.refuse_error()
        except (OSError, ValueError) as error:
            self._link.close()
            await_end(process)
            for each in (process.stdin, process.stdout):
                _stream(each).close()
            raise Failure(f"the world {quote(self._name)} could not be started: {error}") from error
        return process

    def _greet(self) -> frozenset[str]:
        """Tell the program about the run; return the kinds of requests that it answers."""
        plan = self._opening.plan
        about: Object = {"id": plan.id, "digest": self._opening.digest}
        self._send({"is": "hello", "protocol": PROTOCOL, "run": self._opening.run, "plan": about})
        try:
            told = self._first.get(timeout=_PATIENCE)
        except Empty:
            told = f"it was not ready after {_PATIENCE:g} s"
        why = told if isinstance(told, str) else _find_fault(told)
        if why is not None or isinstance(told, str):
            self.close()
            raise Failure(f"the world {quote(self._name)} does not begin: {why}")
        return frozenset(each for each in list_of(told["answers"]) if isinstance(each, str))

    def _receive(self) -> None:
        """Hand every answer to who waits for it, until the program ends or says what is no answer."""
        self._first.put(told := self._read())
        while isinstance(told, Mapping) and isinstance(told := self._read(), Mapping):
            with self._lock:
                arrival = self._waiting.pop(text_in(told, "key") or "", None)
            if arrival is not None:  # nobody waits for what was cancelled
                arrival.put(told)
        with self._lock:
            self._trouble = self._trouble or str(told)
            left, self._waiting = self._waiting, {}
        for arrival in left.values():
            arrival.put({"failure": self._trouble})

    def _read(self) -> Object | str:
        """Return the next line of the program, or why there is none."""
        line = _stream(self._process.stdout).readline(_LONGEST)
        if not line:
            return "it has ended"
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            return f"it wrote what is no JSON object: {quote(line[:_SHOWN].decode(errors='replace').strip())}"
        return object_of(told)

    def _send(self, message: Object) -> None:
        try:
            self._write(message)
        except OSError as error:
            self._trouble = self._trouble or "it has ended"
            raise Failure(f"the world {quote(self._name)} cannot be asked: it has ended") from error

    def _write(self, message: Object) -> None:
        stdin = _stream(self._process.stdin)
        stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        stdin.flush()

    def _refuse_trouble(self) -> None:
        if self._trouble is not None:
            raise Failure(f"the world {quote(self._name)} cannot be asked: {self._trouble}")


_SHORT = 2.0
"""Seconds in which a program may end by itself when its run is over."""
_SHOWN = 200


def _find_fault(told: Object) -> str | None:
    """Return what is wrong with the first line of a program; nothing when it is as it should be."""
    if told.get("is") != "ready" or told.get("protocol") != PROTOCOL:
        return f"its first line is not {{'is': 'ready', 'protocol': {PROTOCOL!r}, …}}"
    unknown = [str(each) for each in list_of(told.get("answers")) if each not in KINDS.values()]
    if unknown:
        return f"there are no requests of the kind {listing(unknown, 'or')}"
    return None if list_of(told.get("answers")) else "it answers no requests: 'answers' lists their kinds"


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("the program has its streams")
    return stream
