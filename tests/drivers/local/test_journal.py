"""Journals: what is written is there, once, in order, and nothing is believed that is not as it was written."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest
from campaigns import choose

from stagec.runtime.drivers.local import History, Journal, JournalError, Reason, create, open_journal, read_journal
from stagec.runtime.drivers.local.journal_file import ROOM
from stagec.runtime.machine import Answered, Cancelled, Event, Program, Started
from stagec.runtime.machine.exchange import Resumed

TOP = Path(__file__).parents[3]
EVENTS: tuple[Event, ...] = (
    Started("one", None, {"topic": "winter"}),
    Answered("one/draft#1/1.0", {"answer": {"action": "next", "half": "\ud800", "text": "Käse\x00"}}),
    Answered("one/close#1/1.0", {"answer": [1, 1.5, None, True, 2**60]}),
    Cancelled("enough"),
)


STEP_DIGESTS = tuple(f"step {number}" for number in range(len(EVENTS)))


def filled(journal: Journal) -> None:
    for event, step_digest in zip(EVENTS, STEP_DIGESTS, strict=True):
        journal.append(event)
        journal.take_digest(step_digest)
    journal.seal()
    journal.close()


def refusal(action: Callable[[], object]) -> JournalError:
    with pytest.raises(JournalError) as raised:
        action()
    return raised.value


def test_what_is_appended_is_read_back(journal: Journal, path: Path, plan: bytes, program: Program) -> None:
    filled(journal)
    assert read_journal(path) == History(plan, program.digest, EVENTS, STEP_DIGESTS, {"scenario": "somewhere"})


def test_a_step_digest_is_kept_with_the_next_event(journal: Journal, path: Path) -> None:
    for event in EVENTS[:2]:
        journal.append(event)
        journal.take_digest("step")
    journal.close()
    assert read_journal(path).step_digests == ("step", "")


def test_nothing_follows_the_seal(journal: Journal, path: Path) -> None:
    journal.append(EVENTS[0])
    journal.seal()
    assert refusal(lambda: journal.append(EVENTS[1])).reason is Reason.UNUSABLE
    journal.close()
    with closing(open_journal(path)) as again:
        assert refusal(lambda: again.append(EVENTS[1])).reason is Reason.UNUSABLE
    assert read_journal(path).events == EVENTS[:1]


def test_a_run_that_has_ended_is_resumed_as_often_as_somebody_wants(journal: Journal, path: Path) -> None:
    filled(journal)
    found = EVENTS
    for kept in ("draft", "close"):
        with closing(open_journal(path)) as again:
            for event in (Resumed((kept,)), Answered(f"one/{kept}#2/1.0", {}), Cancelled("enough")):
                assert again.count == len(found)
                again.append(event)
                again.take_digest(f"step {len(found)}")
                found = (*found, event)
            again.seal()
    history = read_journal(path)
    assert (history.events, history.step_digests) == (found, tuple(f"step {number}" for number in range(len(found))))


def test_nothing_but_resuming_follows_the_end_of_a_run(journal: Journal, path: Path) -> None:
    filled(journal)
    with closing(open_journal(path)) as again:
        for event in (Cancelled("enough"), Answered("one/late#1/1.0", {})):
            assert refusal(lambda event=event: again.append(event)).reason is Reason.UNUSABLE
        again.append(Resumed())
        again.append(Cancelled("enough"))
        assert refusal(lambda: again.append(EVENTS[0])).reason is Reason.UNUSABLE
    assert read_journal(path).events == (*EVENTS, Resumed(), Cancelled("enough"))


def test_the_file_has_room_before_anything_has_happened(journal: Journal, path: Path) -> None:
    before = path.stat().st_size
    for event in EVENTS:
        journal.append(event)
    assert path.stat().st_size == before >= ROOM


def test_a_file_without_room_becomes_longer(journal: Journal, path: Path) -> None:
    events = [Answered(f"key {number}", {"answer": "x" * (ROOM // 3)}) for number in range(10)]
    for event in events:
        journal.append(event)
    journal.close()
    assert list(read_journal(path).events) == events


def test_nobody_else_may_read_a_journal(journal: Journal, path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_journal_is_resumed_where_it_ended(journal: Journal, path: Path) -> None:
    journal.append(EVENTS[0])
    journal.close()
    again = open_journal(path)
    assert (again.count, again.history.events) == (1, EVENTS[:1])
    again.append(EVENTS[1])
    again.close()
    assert read_journal(path).events == EVENTS[:2]


def test_an_event_of_a_known_key_is_refused(journal: Journal) -> None:
    journal.append(EVENTS[1])
    assert refusal(lambda: journal.append(EVENTS[1])).reason is Reason.UNUSABLE


@pytest.mark.parametrize("answer", [float("nan"), {1, 2}, object()])
def test_what_is_no_json_is_not_written(journal: Journal, path: Path, answer: object) -> None:
    refusal(lambda: journal.append(Answered("key", answer)))  # type: ignore[arg-type]
    journal.close()
    assert read_journal(path).events == ()


def test_what_is_nested_too_deeply_is_not_written(journal: Journal) -> None:
    nested: list[object] = []
    for _ in range(choose(20_000, whole=100_000)):
        nested = [nested]
    assert "nested too deeply" in str(refusal(lambda: journal.append(Answered("key", nested))))  # type: ignore[arg-type]


def test_a_run_has_one_journal(journal: Journal, path: Path, plan: bytes) -> None:
    filled(journal)
    error = refusal(lambda: create(path, plan, "sha256:0"))
    assert (error.reason, str(error)) == (Reason.TAKEN, "there is a run of this name already")
    assert read_journal(path).events == EVENTS


def test_a_journal_in_which_nothing_has_happened_may_be_begun_again(journal: Journal, path: Path, plan: bytes) -> None:
    journal.close()
    again = create(path, plan, journal.history.digest, {"other": "fact"})
    again.append(EVENTS[0])
    again.close()
    assert read_journal(path).facts == {"other": "fact"}


def test_a_second_reader_in_this_process_is_refused(journal: Journal, path: Path) -> None:
    assert refusal(lambda: open_journal(path)).reason is Reason.BUSY


def test_a_second_process_is_refused(journal: Journal, path: Path, plan: bytes) -> None:
    probe = f"""
from pathlib import Path
from stagec.runtime.drivers.local import JournalError, create, open_journal, read_journal
path = Path({str(path)!r})
for attempt in (open_journal, read_journal, lambda path: create(path, b"", "")):
    try:
        attempt(path)
    except JournalError as error:
        print(error.reason)
"""
    ended = subprocess.run(
        [sys.executable, "-c", probe],
        env={"PYTHONPATH": str(TOP / "compiler")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "running\n" * 3
    journal.append(EVENTS[0])
    journal.close()
    assert read_journal(path).events == EVENTS[:1]


def test_a_run_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert refusal(lambda: open_journal(tmp_path / "none.run")).reason is Reason.MISSING
    assert list(tmp_path.iterdir()) == []


FOREIGN = {
    "nothing": b"",
    "text": b"not a journal",
    "zeros": bytes(8192),
    "a database": b"SQLite format 3\0" + b"\1" * 100,
    "a name": b"stagec journal\n",
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_a_file_of_something_else_is_no_journal_and_stays_as_it_is(tmp_path: Path, data: bytes, plan: bytes) -> None:
    path = tmp_path / "other.run"
    path.write_bytes(data)
    for attempt in (open_journal, read_journal, lambda path: create(path, plan, "")):
        assert refusal(lambda attempt=attempt: attempt(path)).reason is Reason.DAMAGED
    assert path.read_bytes() == data


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    for attempt in (open_journal, read_journal):
        assert refusal(lambda attempt=attempt: attempt(tmp_path)).reason is Reason.UNUSABLE


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("one.run"), lambda path: path.symlink_to("x")]
)
def test_what_is_no_file_is_neither_opened_nor_followed(
    journal: Journal, path: Path, plan: bytes, make: Callable[[Path], None]
) -> None:
    filled(journal)
    other = path.with_name("other.run")
    make(other)
    for attempt in (open_journal, read_journal, lambda path: create(path, plan, "")):
        assert refusal(lambda attempt=attempt: attempt(other)).reason is Reason.UNUSABLE
    assert {each.name for each in path.parent.iterdir()} == {"one.run", "other.run"}


def test_a_journal_of_a_later_version_is_left_alone(journal: Journal, path: Path) -> None:
    filled(journal)
    data = bytearray(path.read_bytes())
    data[19] = 4
    data[20:36] = blake2b(data[:20], digest_size=16).digest()
    path.write_bytes(data)
    told = "its journal has version 4, and this is a reader of version 3; the stagec that began the run can resume it"
    assert (refusal(lambda: open_journal(path)).reason, str(refusal(lambda: read_journal(path)))) == (
        Reason.UNUSABLE,
        told,
    )


def changed(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


def held(path: Path, data: bytes) -> int | None:
    """Return how many events are read, which must be the first that were written; nothing when it is damaged."""
    path.write_bytes(data)
    try:
        found = read_journal(path).events
    except JournalError as error:
        if error.reason is not Reason.DAMAGED:
            raise
        return None
    assert found == EVENTS[: len(found)]
    return len(found)


def places(path: Path) -> Iterator[int]:
    """Yield places in a journal: in its title, its heads, its records and its room."""
    size = path.stat().st_size
    yield from (*range(0, 40, 3), *range(505, 1100, 7), *range(4090, size - ROOM, 5), *range(size - ROOM, size, 3001))


def test_no_flipped_bit_changes_history_or_shortens_it(journal: Journal, path: Path) -> None:
    filled(journal)
    data = path.read_bytes()
    copy = path.with_name("copy.run")
    found = {held(copy, changed(data, place, 1 << place % 8)) for place in places(path)}
    assert found == {None, len(EVENTS)}


def test_no_cut_changes_history_or_shortens_it(journal: Journal, path: Path) -> None:
    filled(journal)
    data = path.read_bytes()
    copy = path.with_name("copy.run")
    assert {held(copy, data[:place] + data[place + 1 :]) for place in places(path)} == {None, len(EVENTS)}
    assert {held(copy, data[:place]) for place in places(path)} == {None, len(EVENTS)}


def test_no_page_of_zeros_changes_history_or_shortens_it(journal: Journal, path: Path) -> None:
    filled(journal)
    data = path.read_bytes()
    copy = path.with_name("copy.run")
    for size in (512, 1024, 4096, 8192):
        found = {held(copy, data[:at] + bytes(size) + data[at + size :]) for at in range(0, len(data) - size, 256)}
        assert found == {None, len(EVENTS)}


def test_an_event_that_was_not_acknowledged_counts_when_it_is_whole(journal: Journal, path: Path) -> None:
    """A process that ends between the record and the head leaves the record; it is written again before it counts."""
    journal.append(EVENTS[0])
    before = path.read_bytes()[:4096]
    journal.append(EVENTS[1])
    journal.close()
    data = before + path.read_bytes()[4096:]
    copy = path.with_name("copy.run")
    assert held(copy, data) == 2
    end = data.rstrip(b"\0")
    assert {held(copy, changed(data, place, 1)) for place in range(len(end) - 40, len(end))} == {1}
    assert {held(copy, data[:place]) for place in range(len(end) - 40, len(end))} == {1}
    copy.write_bytes(data)
    with closing(open_journal(copy)) as opened:
        assert opened.count == 2
    assert held(copy, changed(copy.read_bytes(), len(end) - 1, 1)) is None


def test_what_is_left_of_an_interrupted_commit_is_removed(journal: Journal, path: Path) -> None:
    journal.append(EVENTS[0])
    before = path.read_bytes()[:4096]
    journal.append(Answered("long", {"answer": "x" * 5000}))
    journal.close()
    data = bytearray(before + path.read_bytes()[4096:])
    data[-ROOM:-ROOM] = b""
    path.write_bytes(data.replace(b"x" * 5000, b"x" * 4999 + b"y"))
    with closing(open_journal(path)) as opened:
        assert opened.count == 1
        assert b"xxx" not in path.read_bytes()
        opened.append(EVENTS[1])
    assert read_journal(path).events == EVENTS[:2]


def test_a_record_behind_a_damaged_one_is_damage_even_where_nothing_was_acknowledged(
    journal: Journal, path: Path
) -> None:
    before = path.read_bytes()[:4096]
    filled(journal)
    data = before + path.read_bytes()[4096:]
    copy = path.with_name("copy.run")
    assert held(copy, data) == len(EVENTS)
    first = data.index(b"winter")
    assert held(copy, changed(data, data.index(b'"is":"started"', first - 100), 1)) is None


def test_nothing_is_appended_to_a_journal_that_could_not_be_written(journal: Journal, path: Path) -> None:
    journal.append(EVENTS[0])
    os.close(journal._file.descriptor)
    journal._file.descriptor = os.open(path, os.O_RDONLY)
    assert "an event cannot be written" in str(refusal(lambda: journal.append(EVENTS[1])))
    assert "the event before it could not be written" in str(refusal(lambda: journal.append(EVENTS[2])))
    journal.close()
    assert read_journal(path).events == EVENTS[:1]


def test_folders_are_made_and_kept(tmp_path: Path, plan: bytes, program: Program) -> None:
    deep = tmp_path / "a" / "b" / "c" / "one.run"
    create(deep, plan, program.digest).close()
    assert deep.exists()


def test_a_disk_that_cannot_be_read_is_told(journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(journal)

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", fail)
    for attempt in (open_journal, read_journal):
        error = refusal(lambda attempt=attempt: attempt(path))
        assert (error.reason, str(error)) == (Reason.UNUSABLE, "its journal cannot be read: Input/output error")
