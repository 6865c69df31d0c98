"""A world that is a program in any language: requests and answers as JSON lines over its standard streams."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, text_in
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.answer_schemas import refuse_answer
from stagec.runtime.machine.exchange import Effect
from stagec.runtime.world.request_json import KINDS, Definitions, dump_request
from stagec.runtime.world.supervised_program import Job, LineProgram, LogStream, RunLog, UnreadableLine, list_keys

PROTOCOL = "stagec.world/1"
"""The version of the protocol, which both sides name."""
_STANDARD_ERROR = 2
"""The descriptor of where this process complains."""
_PATIENCE = 30.0
"""Seconds in which a program must say that it is ready."""


@value
class Opening:
    """The run that a program answers: its id, its plan with the digest, and its toolbox."""

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
        self._lock = Lock()
        self._waiting: dict[str, SimpleQueue[Object | str]] = {}
        self._trouble: str | None = None
        self._is_closed = False
        self._program = self._start(words)
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
        arrival: SimpleQueue[Object | str] = SimpleQueue()
        with self._lock:
            self._refuse_trouble()
            self._waiting[effect.key] = arrival
            self._send(dump_request(self._opening.plan, effect, self._opening.tools))
        told = arrival.get()
        if isinstance(told, str):  # a line with its key that is no JSON
            return refuse_answer(effect, told)
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
            self._program.write_or_drop({"is": "end"})
        self._program.end()
        self._reader.join(_SHORT)
        self._program.close_streams()

    def _start(self, words: tuple[str, ...]) -> LineProgram:
        try:
            errors = LogStream(RunLog(_STANDARD_ERROR), Redactor(os.environ), most=inf)
            return LineProgram(Job(words, dict(os.environ), os.getcwd()), errors)
        except (OSError, ValueError) as error:
            raise Failure(f"the world {quote(self._name)} could not be started: {error}") from error

    def _greet(self) -> frozenset[str]:
        """Tell the program about the run; return the kinds of requests that it answers."""
        plan = self._opening.plan
        about: Object = {"id": plan.id, "digest": self._opening.digest}
        self._program.write_or_drop({"is": "hello", "protocol": PROTOCOL, "run": self._opening.run, "plan": about})
        try:
            told = self._first.get(timeout=_PATIENCE)
        except Empty:
            told = f"it was not ready after {_PATIENCE:g} s"
        why = told if isinstance(told, str) else _find_fault(told)
        if why is not None or isinstance(told, str):
            self.close()
            raise Failure(f"the world {quote(self._name)} does not start: {why}")
        return frozenset(each for each in list_of(told["answers"]) if isinstance(each, str))

    def _receive(self) -> None:
        """Hand every answer to who waits for it, until the program ends or says what is no answer."""
        first = self._program.take_line()
        opening = first.told if isinstance(first, UnreadableLine) else first
        self._first.put(opening)
        trouble = opening if isinstance(opening, str) else ""
        while not trouble:
            trouble = self._take(self._program.take_line())
        with self._lock:
            self._trouble = self._trouble or trouble
            left, self._waiting = self._waiting, {}
        for arrival in left.values():
            arrival.put({"failure": self._trouble})

    def _take(self, told: Object | UnreadableLine | str) -> str:
        """Hand a line to who waits for it; return why nothing can follow, the empty text if more may."""
        if isinstance(told, str):
            return told
        with self._lock:
            keys = [text_in(told, "key") or ""] if isinstance(told, Mapping) else list_keys(told.line)
            arrival = next((self._waiting.pop(key) for key in keys if key in self._waiting), None)
        if arrival is None:  # nobody waits for what was cancelled
            return told.told if isinstance(told, UnreadableLine) else ""
        arrival.put(told.why if isinstance(told, UnreadableLine) else told)
        return ""

    def _send(self, message: Object) -> None:
        try:
            self._program.write(message)
        except OSError as error:
            self._trouble = self._trouble or "it has ended"
            raise Failure(f"the world {quote(self._name)} cannot be asked: it has ended") from error

    def _refuse_trouble(self) -> None:
        if self._trouble is not None:
            raise Failure(f"the world {quote(self._name)} cannot be asked: {self._trouble}")


_SHORT = 2.0
"""Seconds in which what the program has written may arrive when it has ended."""


def _find_fault(told: Object) -> str | None:
    """Return the mistake in the first line of a program; None if it is right."""
    if told.get("is") != "ready" or told.get("protocol") != PROTOCOL:
        return f"its first line is not {{'is': 'ready', 'protocol': {PROTOCOL!r}, …}}"
    unknown = [str(each) for each in list_of(told.get("answers")) if each not in KINDS.values()]
    if unknown:
        return f"its 'answers' has unknown kinds of requests: {listing(unknown)}"
    return None if list_of(told.get("answers")) else "it answers no requests: 'answers' lists their kinds"
