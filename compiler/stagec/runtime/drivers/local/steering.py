"""Steer a run from another process: list its open questions, and answer, pause and cancel by messages."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.plan.loader import PlanError
from stagec.runtime.drivers.local.live_journal import LiveJournal, read_stored
from stagec.runtime.drivers.local.mailbox import AlreadySentError, Mailbox, UnusableMessageError
from stagec.runtime.drivers.messages import (
    MessageKind,
    OtherAnswerError,
    RunMessage,
    find_asked,
    is_answer_of,
    name_answer,
    write_message,
)
from stagec.runtime.drivers.replay import fold_run
from stagec.runtime.machine import Program, load
from stagec.runtime.world.questions import (
    OpenQuestion,
    list_open_questions,
    make_answer,
    read_decision,
)


@value
class WaitingQuestion:
    """A question of a run, and the answer that was sent and has not arrived, if any.

    `is_executed` tells whether a process executes the run; otherwise an answer counts when the run is resumed.
    """

    question: OpenQuestion
    is_executed: bool
    sent: RunMessage | None = None


def list_waiting(path: Path) -> list[WaitingQuestion]:
    """Return the questions of a run that wait; raises `JournalError` and `Failure`."""
    stored = read_stored(path)
    program, state = fold_run(_load(stored.history.plan), stored.history.events)
    mailbox = Mailbox(path)
    mailbox.check()
    found = list_open_questions(program, () if state.ended is not None else state.pending.values(), state.active)
    return [WaitingQuestion(each, stored.is_executed, _find_sent(mailbox, each.key)) for each in found]


def send_answer(path: Path, key: str, *, yes: bool, by: str) -> RunMessage:
    """Answer a question of a run; the answer counts when this returns, at the latest when the run is resumed.

    Raises `OtherAnswerError` when somebody else was first, `Failure` for what is no question, and `JournalError`.
    """
    _refuse_foreign(path)
    with closing(LiveJournal(path)) as live:
        events = live.read_more().events
        effect = find_asked(_load(live.plan), events, key)
        message, mailbox = write_message(MessageKind.ANSWER, by, key, make_answer(effect, yes=yes)), Mailbox(path)
        try:
            mailbox.send(message, lambda other: read_decision(effect, other.answer) is not None)
        except AlreadySentError as error:
            raise OtherAnswerError(error.message.answer, error.message.by) from error
        try:  # what was answered before the message was there was answered by somebody else
            more = live.read_more()
            events = more.events if more.begins else (*events, *more.events)
            if not any(is_answer_of(each, message) for each in events):
                find_asked(_load(live.plan), events, key)
        except (OtherAnswerError, Failure):
            mailbox.take(message)
            raise
    return message


def send_request(path: Path, kind: MessageKind, by: str) -> bool:
    """Ask who executes a run to pause or cancel it; return whether anybody does.

    It was asked as well when somebody else has sent the same before.
    """
    _refuse_foreign(path)
    message, mailbox = write_message(kind, by), Mailbox(path)
    with closing(LiveJournal(path)) as live:
        if not live.is_executed():
            return False
        try:
            mailbox.send(message)
        except AlreadySentError as error:
            message = error.message
        if live.is_executed():
            return True
        mailbox.take(message)  # who executed the run has gone, and may not have seen it
        return False


def _find_sent(mailbox: Mailbox, key: str) -> RunMessage | None:
    try:
        return mailbox.read(name_answer(key))
    except UnusableMessageError:
        return None


def _refuse_foreign(path: Path) -> None:
    """Refuse the run of another user, who would not read the message."""
    try:
        owner = os.stat(path).st_uid
    except OSError as error:
        raise Failure(f"cannot use {quote(path)}: {error.strerror or error}") from error
    if owner != os.geteuid():
        raise Failure(f"{quote(path)} belongs to another user: only that user can send messages to its run")


def _load(plan: bytes) -> Program:
    try:
        return load(plan)
    except PlanError as error:
        raise Failure(f"its plan is refused: {error}") from error
