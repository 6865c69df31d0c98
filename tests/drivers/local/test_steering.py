"""Questions of runs that are answered from elsewhere, and requests to pause and to cancel them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playable import judged

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.drivers.local.mailbox import Mailbox, list_waiting, send_answer, send_request
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, RunMessage, name_answer
from stagec.runtime.machine import Answered, Cancelled, Started, load

KEY = "one/work#1/1.1"
PLAN = dump(judged())


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    """Execute a run that asks whether the work is done."""
    held = create(path, PLAN, load(PLAN).digest)
    held.append(Started("one", None, {}))
    held.append(Answered("one/work#1/1.0", {"answer": {"said": "enough"}}))
    yield held
    held.close()


def told(path: Path, *, yes: bool = True) -> tuple[Json, str]:
    with pytest.raises(OtherAnswerError) as raised:
        send_answer(path, KEY, yes=yes, by="page")
    return raised.value.answer, raised.value.by


def test_a_question_is_listed_and_answered(journal: Journal, path: Path) -> None:
    (found,) = list_waiting(path)
    assert (found.question.key, found.question.kind, found.is_executed, found.sent) == (KEY, "judge", True, None)
    sent = send_answer(path, KEY, yes=True, by="page")
    assert (sent.answer, Mailbox(path).read(name_answer(KEY))) == ({"done": True}, sent)
    assert [each.sent for each in list_waiting(path)] == [sent]


def test_an_answer_waits_for_a_run_that_nobody_executes(journal: Journal, path: Path) -> None:
    journal.close()
    assert [each.is_executed for each in list_waiting(path)] == [False]
    send_answer(path, KEY, yes=False, by="page")


def test_the_second_answer_is_told_of_the_first(journal: Journal, path: Path) -> None:
    send_answer(path, KEY, yes=False, by="terminal")
    assert told(path) == ({"done": False}, "terminal")


def test_what_the_journal_has_answered_is_told(journal: Journal, path: Path) -> None:
    journal.append(Answered(KEY, {"done": False, "by": "terminal"}))
    assert told(path) == ({"done": False, "by": "terminal"}, "terminal")
    assert Mailbox(path).list_names() == []
    assert list_waiting(path) == []


@pytest.mark.parametrize("key", ["one/work#1/1.0", "one/work#7/1.1", "", "x", "one/work#1/1.1 "])
def test_what_is_no_question_is_refused(journal: Journal, path: Path, key: str) -> None:
    with pytest.raises((Failure, OtherAnswerError)):
        send_answer(path, key, yes=True, by="page")
    assert Mailbox(path).list_names() == []


def test_a_run_that_has_ended_or_never_began_asks_nothing(journal: Journal, path: Path, tmp_path: Path) -> None:
    create(tmp_path / "two.run", PLAN, load(PLAN).digest).close()
    journal.append(Cancelled())
    journal.seal()
    for each in (path, tmp_path / "two.run"):
        assert list_waiting(each) == []
        with pytest.raises(Failure, match="no question has the key"):
            send_answer(each, KEY, yes=True, by="page")


@pytest.mark.parametrize("own", [True, False])
def test_an_answer_that_comes_too_late_is_taken_back(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    """The run is answered between the look at its journal and the message, by this message or by another."""
    send = Mailbox.send

    def answer_first(mailbox: Mailbox, message: RunMessage, *fits: Any) -> None:
        send(mailbox, message, *fits)
        identity = message.id if own else "f" * 32
        journal.append(Answered(KEY, {"done": True, "by": "terminal", "message": identity}))

    monkeypatch.setattr(Mailbox, "send", answer_first)
    if own:
        assert send_answer(path, KEY, yes=True, by="page").answer == {"done": True}
        return
    assert told(path, yes=False)[1] == "terminal"
    assert Mailbox(path).list_names() == []


def test_a_run_that_ends_meanwhile_takes_no_answer(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Mailbox.send

    def end_first(mailbox: Mailbox, message: RunMessage, *fits: Any) -> None:
        send(mailbox, message, *fits)
        journal.append(Cancelled())

    monkeypatch.setattr(Mailbox, "send", end_first)
    with pytest.raises(Failure, match="no question has the key"):
        send_answer(path, KEY, yes=True, by="page")
    assert Mailbox(path).list_names() == []


def test_of_many_who_answer_one_counts(journal: Journal, path: Path) -> None:
    counted: list[RunMessage] = []
    others: list[Json] = []

    def send(number: int) -> None:
        try:
            counted.append(send_answer(path, KEY, yes=bool(number % 2), by="page"))
        except OtherAnswerError as error:
            others.append(error.answer)

    senders = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for each in senders:
        each.start()
    for each in senders:
        each.join()
    assert others == [counted[0].answer] * 7


@pytest.mark.parametrize("kind", [MessageKind.PAUSE, MessageKind.CANCEL])
def test_who_executes_a_run_is_asked_once(journal: Journal, path: Path, kind: MessageKind) -> None:
    assert send_request(path, kind, "terminal")
    first = Mailbox(path).read(kind)
    assert send_request(path, kind, "page")
    assert first is not None
    assert Mailbox(path).read(kind) == first


def test_nobody_is_asked_where_nobody_executes(journal: Journal, path: Path) -> None:
    journal.close()
    assert not send_request(path, MessageKind.PAUSE, "terminal")
    assert not Mailbox(path).path.exists()


def test_a_request_that_comes_too_late_is_taken_back(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Mailbox.send

    def end_first(mailbox: Mailbox, message: RunMessage, *fits: Any) -> None:
        send(mailbox, message, *fits)
        journal.close()

    monkeypatch.setattr(Mailbox, "send", end_first)
    assert not send_request(path, MessageKind.CANCEL, "terminal")
    assert Mailbox(path).list_names() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator can give files away")
def test_the_run_of_another_user_is_refused(journal: Journal, path: Path) -> None:
    os.chown(path, 12345, -1)
    for send in (
        lambda: send_answer(path, KEY, yes=True, by="page"),
        lambda: send_request(path, MessageKind.PAUSE, "x"),
    ):
        with pytest.raises(Failure, match="belongs to another user"):
            send()
