"""Messages to runs: the first of a name counts, and what others could have written is not read."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigns import choose
from rights import ordinary_rights
from sealed_names import find_file

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.runtime.drivers.local.mailbox import AlreadySentError, Mailbox, UnusableMessageError
from stagec.runtime.drivers.messages import MessageKind, RunMessage, name_answer, write_message

KEY = "one/work#1/1.1"
NAME = name_answer(KEY)


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path / "one.run")


def answering(*, yes: bool = True, key: str = KEY) -> RunMessage:
    return write_message(MessageKind.ANSWER, "page", key, {"done": yes})


def refusal(mailbox: Mailbox, name: str = NAME) -> str:
    with pytest.raises(UnusableMessageError) as raised:
        mailbox.read(name)
    return str(raised.value)


def test_a_message_is_read_until_it_is_taken(mailbox: Mailbox) -> None:
    assert mailbox.read(NAME) is None
    sent = answering()
    mailbox.send(sent)
    assert (mailbox.read(NAME), mailbox.list_names()) == (sent, [find_file(mailbox, NAME).name])
    assert (mailbox.path.stat().st_mode & 0o777, find_file(mailbox, NAME).stat().st_mode & 0o777) == (0o700, 0o600)
    mailbox.take(sent)
    mailbox.take(sent)
    assert (mailbox.read(NAME), mailbox.list_names()) == (None, [])


@pytest.mark.parametrize("kind", [MessageKind.PAUSE, MessageKind.CANCEL])
def test_requests_have_their_own_names(mailbox: Mailbox, kind: MessageKind) -> None:
    sent = write_message(kind, "terminal")
    mailbox.send(sent)
    assert mailbox.read(kind) == sent


def test_the_first_message_counts_and_the_second_is_told_of_it(mailbox: Mailbox) -> None:
    first = answering()
    mailbox.send(first)
    with pytest.raises(AlreadySentError) as raised:
        mailbox.send(answering(yes=False))
    assert raised.value.message == first
    mailbox.take(answering(yes=False))
    assert mailbox.read(NAME) == first


@pytest.mark.parametrize("key", ["", "\ud800", "../../x", "a" * 5000, "\x00\n"])
def test_a_key_may_be_any_text(mailbox: Mailbox, key: str) -> None:
    mailbox.send(answering(key=key))
    assert mailbox.read(name_answer(key)) is not None


def test_of_many_senders_one_counts_and_all_others_are_told(mailbox: Mailbox) -> None:
    counted: list[RunMessage] = []
    told: list[RunMessage] = []
    begin = threading.Barrier(16)

    def send(number: int) -> None:
        message = answering(yes=bool(number % 2))
        begin.wait()
        try:
            mailbox.send(message)
            counted.append(message)
        except AlreadySentError as error:
            told.append(error.message)

    senders = [threading.Thread(target=send, args=(number,)) for number in range(16)]
    for each in senders:
        each.start()
    for each in senders:
        each.join()
    assert (len(counted), told) == (1, counted * 15)
    assert mailbox.read(NAME) == counted[0]


def planted(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


MESSAGE = {"format": "stagec.message/1", "kind": "answer", "by": "page", "id": "0" * 32, "key": KEY}
WRONG: list[Json] = [
    None,
    [],
    {},
    {**MESSAGE, "format": "stagec.message/2"},
    {**MESSAGE, "kind": "pause"},
    {**MESSAGE, "kind": ["answer"]},
    {**MESSAGE, "key": "another/work#1/1.1"},
    {**MESSAGE, "key": 1},
    {**MESSAGE, "by": "\x1b[31m"},
    {**MESSAGE, "by": ""},
    {**MESSAGE, "id": "1"},
    {**MESSAGE, "id": "g" * 32},
]
BYTES: list[bytes] = [b"", b"\xff\xfe", b"{", b"[" * 60_000, b'"' + b"x" * 70_000 + b'"', b"1" * 5000]


@pytest.mark.parametrize("data", [*(json.dumps(each).encode() for each in WRONG), *BYTES])
def test_what_is_no_message_is_not_read_and_makes_room_for_one(mailbox: Mailbox, data: bytes) -> None:
    mailbox.path.mkdir(mode=0o700)
    planted(find_file(mailbox, NAME), data)
    assert refusal(mailbox).startswith(("is not a message", "has not the seal"))
    mailbox.send(answering())
    assert mailbox.read(NAME) is not None


def link(path: Path) -> None:
    planted(path.with_name("target"), json.dumps(MESSAGE).encode())
    path.symlink_to("target")


def write_for_others(path: Path) -> None:
    planted(path, json.dumps(MESSAGE).encode())
    path.chmod(0o666)


def make_huge(path: Path) -> None:
    planted(path, b"")
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize("plant", [link, os.mkfifo, write_for_others, make_huge])
def test_what_lies_in_the_place_of_a_message_is_not_followed_or_waited_for(
    mailbox: Mailbox, plant: Callable[[Path], None]
) -> None:
    mailbox.path.mkdir(mode=0o700)
    plant(find_file(mailbox, NAME))
    refusal(mailbox)
    mailbox.send(answering())
    assert mailbox.read(NAME) is not None


def test_a_folder_in_the_place_of_a_message_is_told(mailbox: Mailbox) -> None:
    find_file(mailbox, NAME).mkdir(parents=True, mode=0o700)
    mailbox.path.chmod(0o700)
    assert refusal(mailbox).startswith("is not a message")
    with pytest.raises(Failure, match="no message can be sent"):
        mailbox.send(answering())


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o755, 0o1777])
def test_a_folder_that_others_could_use_is_refused(mailbox: Mailbox, mode: int) -> None:
    mailbox.send(answering())
    mailbox.path.chmod(mode)
    assert refusal(mailbox) == f"has the mode {mode:04o}, must have 0700, and no answer in it counts: remove it"
    with pytest.raises(Failure, match=f"has the mode {mode:04o}"):
        mailbox.send(answering(key="other"))
    with pytest.raises(Failure, match=f"the folder of messages '.*' has the mode {mode:04o}"):
        mailbox.check()
    assert mailbox.list_names() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator can give files away")
@pytest.mark.parametrize("inside", [True, False])
def test_what_belongs_to_another_user_is_refused(mailbox: Mailbox, *, inside: bool) -> None:
    mailbox.send(answering())
    os.chown(find_file(mailbox, NAME) if inside else mailbox.path, 12345, -1)
    assert refusal(mailbox).startswith("may be written by others" if inside else "belongs to another user")


def test_a_link_in_the_place_of_the_folder_is_refused(mailbox: Mailbox, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    mailbox.path.symlink_to(tmp_path / "elsewhere")
    assert "is a link" in refusal(mailbox)
    with pytest.raises(Failure, match="is a link"):
        mailbox.send(answering())
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_pipe_in_the_place_of_the_folder_is_refused(mailbox: Mailbox) -> None:
    os.mkfifo(mailbox.path)
    refusal(mailbox)
    with pytest.raises(Failure, match="no message can be sent"):
        mailbox.send(answering())


def test_a_disk_that_cannot_be_written_is_told(mailbox: Mailbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with ordinary_rights(), pytest.raises(Failure, match="Permission denied"):
            mailbox.send(answering())
    finally:
        tmp_path.chmod(0o700)


def test_a_sender_who_stays_keeps_nobody_waiting_for_long(mailbox: Mailbox) -> None:
    import fcntl

    mailbox.send(answering(key="other"))
    held = os.open(mailbox.path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with pytest.raises(Failure, match="no message can be sent"):
            mailbox.send(answering())
    finally:
        os.close(held)


@pytest.mark.parametrize("seed", range(choose(40, whole=400)))
def test_a_message_that_was_changed_is_none(mailbox: Mailbox, seed: int) -> None:
    sent = answering()
    mailbox.send(sent)
    path = find_file(mailbox, NAME)
    data = bytearray(path.read_bytes())
    data[seed * 7919 % len(data)] ^= 1 << (seed % 7)
    path.write_bytes(data)
    found = mailbox.look((NAME,))[NAME]
    assert isinstance(found, UnusableMessageError) or found == sent


def test_a_message_to_another_run_or_of_another_user_is_none(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Mailbox(mailbox.path.with_name("two.run"))
    other.send(answering())
    mailbox.send(answering())
    os.replace(find_file(other, NAME), find_file(mailbox, NAME))
    assert refusal(mailbox).startswith("has not the seal of this user")
    monkeypatch.setenv("XDG_STATE_HOME", str(mailbox.path.parent / "another"))
    stranger = Mailbox(mailbox.path.with_name("one.run"))
    assert stranger.read(NAME) is None
    stranger.send(answering(yes=False))
    assert [str(each) for each in stranger.look((NAME,)).values() if isinstance(each, Exception)] == [
        "has not the seal of this user, as 'stagec runs answer' and the page write it"
    ]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_secret_that_others_may_read_seals_nothing(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(mailbox.path.parent / "state"))
    mailbox.send(answering())
    (mailbox.path.parent / "state" / "stagec" / "messages.key").chmod(mode)
    with pytest.raises(Failure, match="only you can read: remove it"):
        Mailbox(mailbox.path.with_name("one.run")).send(answering(key="other"))
    found = Mailbox(mailbox.path.with_name("one.run")).look((NAME,))[NAME]
    assert "only you can read: remove it" in str(found)
