"""Messages that are watched: handed over once, to who waits for them, and ignored with a note otherwise."""

from __future__ import annotations

import json
import os
import select
import threading
from pathlib import Path

import pytest
from sealed_names import find_file

from stagec.core.json import Json
from stagec.runtime.drivers.local.mailbox import AwaitedAnswer, Mailbox, MessageWatcher
from stagec.runtime.drivers.messages import MessageKind, RunMessage, name_answer, write_message
from stagec.runtime.machine import Answered, Cancelled, State, StepResult
from stagec.runtime.machine.exchange import Confirm, Grant, Judge

ASKED = Judge("one/work#1/1.1", "poll:state", {}, None)
GRANT = Grant("one/work#1/1.2", "one/work#1", 1, "p", "Delete", "sha")
PATIENCE = 30


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path / "one.run")


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def mail(mailbox: Mailbox, told: list[str]) -> MessageWatcher:
    return MessageWatcher(mailbox, told.append)


def ignore(_message: RunMessage) -> None:
    """Obey nothing."""


def answering(key: str = ASKED.key, answer: Json = None) -> RunMessage:
    return write_message(MessageKind.ANSWER, "page", key, {"done": True} if answer is None else answer)


@pytest.mark.parametrize("is_there_before", [True, False])
def test_an_answer_reaches_who_waits_for_it(mailbox: Mailbox, mail: MessageWatcher, *, is_there_before: bool) -> None:
    sent = answering()
    if is_there_before:
        mailbox.send(sent)
    with mail.watch(ignore), mail.expect(ASKED) as awaited:
        if not is_there_before:
            mailbox.send(sent)
        assert select.select([awaited.open_pipe()], [], [], PATIENCE)[0]
        assert awaited.arrived.wait(PATIENCE)
        assert awaited.message == sent
    assert mailbox.read(sent.name) == sent


def test_several_questions_wait_at_the_same_time(mailbox: Mailbox, mail: MessageWatcher) -> None:
    with mail.watch(ignore), mail.expect(ASKED) as first, mail.expect(GRANT) as second:
        mailbox.send(answering(GRANT.key, {"granted": False}))
        assert second.arrived.wait(PATIENCE)
        assert not first.arrived.is_set()


@pytest.mark.parametrize("is_cancelled_before", [True, False])
def test_a_question_that_nobody_needs_waits_no_more(mail: MessageWatcher, *, is_cancelled_before: bool) -> None:
    if is_cancelled_before:
        mail.cancel(ASKED.key)
    with mail.watch(ignore), mail.expect(ASKED) as awaited:
        if not is_cancelled_before:
            mail.cancel(ASKED.key)
        assert awaited.arrived.wait(PATIENCE)
        assert awaited.message is None
        assert select.select([awaited.open_pipe()], [], [], PATIENCE)[0]


def test_a_message_stays_until_the_journal_has_its_answer(mailbox: Mailbox, mail: MessageWatcher) -> None:
    sent = answering()
    mailbox.send(sent)
    mail.observe(Answered("one/work#1/1.0", {}), StepResult(State(), (ASKED,)))
    assert mailbox.read(sent.name) == sent
    mail.observe(Answered(ASKED.key, {"done": True}), StepResult(State()))
    assert mailbox.read(sent.name) is None


@pytest.mark.parametrize(("reason", "is_taken"), [("cancelled", True), ("interrupted", False)])
def test_a_wish_to_cancel_stays_until_the_run_is_cancelled(
    mailbox: Mailbox, mail: MessageWatcher, reason: str, *, is_taken: bool
) -> None:
    mailbox.send(write_message(MessageKind.CANCEL, "page"))
    mail.observe(Cancelled(reason), StepResult(State()))
    assert (mailbox.read(MessageKind.CANCEL) is None) == is_taken


def test_requests_are_obeyed_once_also_those_that_were_there_before(mailbox: Mailbox, mail: MessageWatcher) -> None:
    obeyed: list[MessageKind] = []
    paused = threading.Event()

    def obey(message: RunMessage) -> None:
        obeyed.append(message.kind)
        if message.kind is MessageKind.PAUSE:
            paused.set()

    mailbox.send(write_message(MessageKind.CANCEL, "page"))
    with mail.watch(obey):
        assert obeyed == [MessageKind.CANCEL]
        mailbox.send(write_message(MessageKind.PAUSE, "page"))
        assert paused.wait(PATIENCE)
    assert obeyed == [MessageKind.CANCEL, MessageKind.PAUSE]
    assert mailbox.list_names() == ["cancel"]


def test_who_decides_second_is_told_of_the_first(mailbox: Mailbox, mail: MessageWatcher) -> None:
    sent = answering()
    mailbox.send(sent)
    assert mail.claim(ASKED, yes=False, by="terminal") == sent
    own = mail.claim(GRANT, yes=True, by="terminal")
    assert (own.answer, mailbox.read(name_answer(GRANT.key))) == ({"granted": True}, own)


def test_a_decision_counts_also_where_no_message_can_be_written(
    mailbox: Mailbox, mail: MessageWatcher, told: list[str]
) -> None:
    mailbox.path.write_text("in the way")
    assert mail.claim(ASKED, yes=True, by="terminal").answer == {"done": True}
    assert "no message can be sent" in told[0]


@pytest.mark.parametrize("answer", [{}, {"done": 1}, {"granted": True}, [], "yes"])
def test_an_answer_that_does_not_fit_is_told_once_and_gives_way(
    mailbox: Mailbox, mail: MessageWatcher, told: list[str], answer: Json
) -> None:
    mailbox.send(answering(answer=answer))
    with mail.expect(ASKED) as awaited:
        for _ in range(3):
            mail._look(ignore)
        assert awaited.message is None
        assert [each.partition("is ignored: ")[2] for each in told] == ["it does not match the question"]
        assert mail.claim(ASKED, yes=True, by="terminal").by == "terminal"
        mail._look(ignore)
        assert awaited.message is not None


def test_what_is_no_message_is_told_once(mailbox: Mailbox, mail: MessageWatcher, told: list[str]) -> None:
    mailbox.path.mkdir(mode=0o700)
    os.mkfifo(mailbox.path / "pause")
    find_file(mailbox, name_answer(ASKED.key)).write_text("{")
    find_file(mailbox, name_answer(ASKED.key)).chmod(0o600)
    with mail.expect(ASKED):
        for _ in range(3):
            mail._look(ignore)
    assert len(told) == 2


def test_a_new_run_takes_nothing_over_and_a_resumed_one_only_pauses_no_more(
    mailbox: Mailbox, mail: MessageWatcher
) -> None:
    sent = [write_message(MessageKind.PAUSE, "page"), write_message(MessageKind.CANCEL, "page"), answering()]
    for each in sent:
        mailbox.send(each)
    mail.begin(is_new=False)
    assert len(mailbox.list_names()) == 2
    mail.begin(is_new=True)
    assert mailbox.list_names() == []


def test_what_fits_nothing_is_told_at_the_end(mailbox: Mailbox, mail: MessageWatcher, told: list[str]) -> None:
    mailbox.send(answering("another/key#1/1.0"))
    mailbox.send(write_message(MessageKind.PAUSE, "page"))
    mail.conclude()
    assert told == ["1 answer had no question, and were ignored"]
    assert not mailbox.path.exists()
    mail.conclude()
    assert len(told) == 1


def test_a_folder_with_something_else_in_it_is_kept(mailbox: Mailbox, mail: MessageWatcher) -> None:
    mailbox.send(answering())
    (mailbox.path / "notes.txt").write_text(json.dumps("mine"))
    mail.conclude()
    assert os.listdir(mailbox.path) == ["notes.txt"]


def test_waiting_ends_once() -> None:
    awaited = AwaitedAnswer(Confirm("one/work#1/1.0", "really"))
    awaited.finish(None)
    awaited.finish(answering())
    assert awaited.message is None
    awaited.close()
    awaited.close()
