"""An answer that was sent is never lost, and counts once, whichever call the process that sends or takes it dies in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest
from crash.interruptions import Interruption, each_interruption
from playable import judged

from stagec.core.failure import Failure
from stagec.core.json import Json, object_of
from stagec.ir.plan import dump
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import JournalError, RunSession, create, open_journal, proceed, read_journal, restore
from stagec.runtime.drivers.local.mailbox import Mailbox, MessageWatcher, send_answer
from stagec.runtime.drivers.messages import OtherAnswerError, RunMessage, name_answer
from stagec.runtime.machine import Answered, Effect, Started, load
from stagec.runtime.machine.exchange import Judge

KEY = "one/work#1/1.1"
PLAN = dump(judged())
PROGRAM = load(PLAN)
JOURNAL_CALLS = ("pwrite", "fdatasync", "ftruncate")


class Somebody:
    """A world whose only question is answered by a message, or by nobody."""

    def __init__(self, mail: MessageWatcher) -> None:
        self._mail = mail
        self.asked = 0

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if not isinstance(effect, Judge):
            return {"answer": {"said": "enough"}}
        self.asked += effect.key == KEY
        with self._mail.expect(effect) as awaited:
            self._mail._look(lambda _message: None)
            message = awaited.message or self._mail.claim(effect, yes=False, by="nobody")
        return {**object_of(message.answer), "by": message.by, "message": message.id}


@contextmanager
def writes_count(interruption: Interruption) -> Iterator[None]:
    """Let also the calls that write journals be the last ones."""
    with interruption.under_way(), pytest.MonkeyPatch.context() as patch:
        for name in JOURNAL_CALLS:
            patch.setattr(os, name, interruption.wrap(name, getattr(os, name)))
        yield


def begin(folder: Path) -> Path:
    """Begin a run that asks, and leave it."""
    path = folder / "one.run"
    with closing(create(path, PLAN, PROGRAM.digest)) as journal:
        journal.append(Started("one", None, {}))
        journal.append(Answered("one/work#1/1.0", {"answer": {"said": "enough"}}))
    return path


def go_on(path: Path) -> int:
    """Execute a run to its end; return how often the question was asked."""
    with closing(open_journal(path)) as journal:
        mail = MessageWatcher(Mailbox(path), lambda _sentence: None)
        mail.begin(is_new=False)
        state, somebody = restore(PROGRAM, journal.history, mail.observe), Somebody(mail)
        state = proceed(RunSession(PROGRAM, journal, somebody, mail.observe), state, None)
        mail.conclude()
    assert state.ended is Outcome.DONE or state.executions == PROGRAM.plan.limits.executions
    return somebody.asked


def find_answers(path: Path) -> list[Json]:
    return [each.answer for each in read_journal(path).events if isinstance(each, Answered) and each.key == KEY]


def test_whoever_takes_an_answer_may_die_at_any_call(tmp_path: Path) -> None:
    numbers = count()

    def attempt(interruption: Interruption) -> None:
        path = begin(tmp_path / str(next(numbers)))
        sent = send_answer(path, KEY, yes=True, by="page")
        wanted = {"done": True, "by": "page", "message": sent.id}
        try:
            with writes_count(interruption):
                go_on(path)
        except (JournalError, Failure):
            assert not interruption.is_crash
        found = find_answers(path)
        assert found in ([], [wanted])
        assert found or Mailbox(path).read(name_answer(KEY)) == sent
        asked = go_on(path)
        assert (asked, find_answers(path)) == (not found, [wanted])
        assert not Mailbox(path).list_names()

    assert each_interruption(attempt) > 10


def test_whoever_sends_an_answer_may_die_at_any_call(tmp_path: Path) -> None:
    numbers = count()

    def attempt(interruption: Interruption) -> None:
        path = begin(tmp_path / str(next(numbers)))
        counted: list[RunMessage] = []
        try:
            with writes_count(interruption):
                counted.append(send_answer(path, KEY, yes=True, by="page"))
        except (Failure, JournalError):
            assert not interruption.is_crash
        wanted = answer_second(path, is_first=not counted)
        assert (go_on(path), find_answers(path)) == (1, [wanted])

    assert each_interruption(attempt) > 5


def answer_second(path: Path, *, is_first: bool) -> Json:
    """Answer no after somebody who may have died while answering yes; return the answer that counts."""
    try:
        sent = send_answer(path, KEY, yes=False, by="terminal")
    except OtherAnswerError:
        found = Mailbox(path).read(name_answer(KEY))
        assert found is not None
        return {"done": True, "by": "page", "message": found.id}
    assert is_first
    return {"done": False, "by": "terminal", "message": sent.id}
