"""Judge a program by the vectors: talk with it, compare what it says, and count by section of the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from threading import Event, Timer

from stagec.cli.conformance.served_machine import PROFILES, PROTOCOL
from stagec.cli.conformance.vectors import SECTIONS, Vector
from stagec.core.canonical import compact
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.json_reader import UnreadableError
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.runtime.machine.json_values import equal, normalise
from stagec.runtime.world.supervised_program import Job, LineProgram, UnreadableLine

Ask = Callable[[Object], Object]

_NO_PROFILE = f"its 'profiles' names none of {listing(PROFILES, 'or')}"
_PATIENCE = 30.0
"""Seconds that a program has for an answer."""
_SHOWN = 160
"""Characters of a value that a difference shows."""


class RunnerProcess:
    """A program under judgement: one message at a time, one answer to each. It is started again after it has ended."""

    def __init__(self, words: tuple[str, ...], patience: float = _PATIENCE) -> None:
        self._words, self._patience = words, patience
        self._program: LineProgram | None = None
        hello = self._start()
        why = None if any(each in PROFILES for each in list_of(hello.get("profiles"))) else _NO_PROFILE
        if hello.get("is") != "ready" or hello.get("protocol") != PROTOCOL:
            why = f'its first line is not {{"is": "ready", "protocol": "{PROTOCOL}", …}}'
        if why is not None:
            self.close()
            raise Failure(f"{quote(words[0])} cannot be judged: {why}")
        self.runner = text_in(hello, "runner") or words[0]
        self.profiles = tuple(each for each in PROFILES if each in list_of(hello.get("profiles")))

    def ask(self, message: Object) -> Object:
        """Return the answer to a message; raise `SilentError` when there is none."""
        if self._program is None:
            self._start()
        return self._exchange(message)

    def close(self) -> None:
        """Let the program end."""
        if self._program is not None:
            self._program.write_or_drop({"is": "end"})
            self._program.end()
            self._program.close_streams()
            self._program = None

    def _start(self) -> Object:
        try:
            self._program = LineProgram(Job(self._words, dict(os.environ), os.getcwd()))
        except (OSError, ValueError) as error:
            raise Failure(
                f"{quote(self._words[0])} cannot be started: {getattr(error, 'strerror', None) or error}"
            ) from error
        try:
            return self._exchange({"is": "hello", "protocol": PROTOCOL})
        except SilentError as error:
            raise Failure(f"{quote(self._words[0])} cannot be judged: {error}") from error

    def _exchange(self, message: Object) -> Object:
        program = self._program
        if program is None:
            raise SilentError("it has ended")
        late = Event()

        def give_up() -> None:
            late.set()
            program.kill()

        alarm = Timer(self._patience, give_up)
        alarm.start()
        program.write_or_drop(message)
        told = program.take_line()
        alarm.cancel()
        if not isinstance(told, str | UnreadableLine):
            return told
        if late.is_set():
            alarm.join()
            program.close_streams()
            self._program = None
            raise SilentError(f"it gave no answer in {self._patience:g} s")
        self.close()
        raise SilentError(told if isinstance(told, str) else told.why)


class SilentError(Exception):
    """A program has given no answer to a message; `str()` says why."""


@value
class VectorResult:
    """What came of one vector: None for a difference if there is none."""

    vector: Vector
    difference: str | None = None


def judge(ask: Ask, vectors: Iterable[Vector]) -> Iterator[VectorResult]:
    """Yield what came of each vector, when `ask` returns the answer of a runner to a message."""
    for vector in vectors:
        try:
            yield VectorResult(vector, _judge(ask, vector))
        except (SilentError, UnreadableError) as error:
            yield VectorResult(vector, str(error))


def _judge(ask: Ask, vector: Vector) -> str | None:
    """Return the first difference between a vector and what a program says; None if there is none."""
    told = ask({"is": "plan", "file": vector.file})
    if not vector.accepted:
        return None if told.get("is") == "refused" else "the file is not refused"
    if told.get("is") != "loaded":
        return f"the plan is refused: {text_in(told, 'why') or compact(told)}"
    for number, step in enumerate(vector.steps or (), 1):
        found = ask({"is": "event", "event": step["event"]})
        difference = find_difference(expect(step), {name: found.get(name) for name in ("requests", "state", "outcome")})
        if difference is not None:
            return f"event {number}: {difference}"
    return None


def expect(step: Object) -> Object:
    """Return what a runner must say of a step of a trace."""
    state = dict(object_of(step["state"]))
    ended, reason = state.pop("ended"), state.pop("reason")
    outcome: Json = None if ended is None else {"ended": ended, "reason": reason}
    return {"requests": step["asked"], "state": state, "outcome": outcome}


def find_difference(wanted: Json, found: Json, place: str = "") -> str | None:
    """Return the first place at which two values differ, with both values; None if they are equal."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        lacking = next((name for name in (*wanted, *found) if name not in wanted or name not in found), None)
        if lacking is not None:
            return f"{place}/{lacking} is {'missing' if lacking in wanted else 'unexpected'}"
        inner = (find_difference(each, found[name], f"{place}/{name}") for name, each in wanted.items())
        return next((each for each in inner if each is not None), None)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        inner = (
            find_difference(*pair, f"{place}/{index}") for index, pair in enumerate(zip(wanted, found, strict=True))
        )
        return next((each for each in inner if each is not None), None)
    is_same = equal(normalise(wanted), normalise(found))  # numbers are doubles, however many digits they have
    return None if is_same else f"{place} is {_show(found)}, expected {_show(wanted)}"


def _show(given: Json) -> str:
    text = compact(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def report(runner: str, profiles: tuple[str, ...], results: Iterable[VectorResult]) -> Iterator[str]:
    """Yield what came of all vectors, by section of the format."""
    found = [*results]
    failed = [each for each in found if each.difference is not None]
    yield f"{runner}: {listing(profiles)}"
    for section, title in SECTIONS.items():
        about = [each for each in found if section in each.vector.sections]
        if about:
            passed = sum(each.difference is None for each in about)
            mark = " " if passed == len(about) else "!"
            yield f"{mark} § {section:<5} {title:<58} {passed:>3} of {len(about)}"
    for each in failed:
        yield f"{each.vector.name}: {each.difference}"
    yield f"{format_count(len(found), 'vector')}, {len(failed)} failed"
