"""Journals that are read while they are written: what was acknowledged, once, in order, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from campaigns import choose

from stagec.runtime.drivers.following import News
from stagec.runtime.drivers.local import Journal, JournalError, Reason, create, open_journal, read_journal
from stagec.runtime.drivers.local.journal_file import Head, dump_record, write_at
from stagec.runtime.drivers.local.live_journal import LiveJournal, read_stored
from stagec.runtime.machine import Answered, Event, Program, Started

JOURNALS = Path(__file__).parent / "journals"
KILLS = choose(12, whole=60)
START = Started("one", None, {"topic": "winter"})


def answered(number: int) -> Answered:
    return Answered(f"one/draft#{number}/1.0", {"answer": "x" * (number * 37 % 9000)})


@pytest.fixture
def live(path: Path) -> Iterator[LiveJournal]:
    with closing(LiveJournal(path)) as made:
        yield made


def refusal(live: LiveJournal) -> JournalError:
    with pytest.raises(JournalError) as raised:
        live.read_more()
    return raised.value


def test_events_are_read_once_as_they_come(journal: Journal, live: LiveJournal, plan: bytes, program: Program) -> None:
    assert live.read_more() == News((), begins=True)
    assert (live.plan, live.digest, live.facts) == (plan, program.digest, {"scenario": "somewhere"})
    journal.append(START)
    assert live.read_more() == News((START,), begins=False)
    assert live.read_more() == News((), begins=False)
    several = tuple(map(answered, range(5)))
    for each in several:
        journal.append(each)
    assert live.read_more() == News(several, begins=False)
    journal.seal()
    assert live.read_more() == News((), begins=False)


def test_a_record_that_was_not_acknowledged_is_not_read(journal: Journal, live: LiveJournal, path: Path) -> None:
    journal.append(START)
    file = journal._file
    data, digest = dump_record(file._digest, file.count, b"\n" + b'{"is":"cancelled","reason":"x"}')
    write_at(file.descriptor, file._end, data)
    assert live.read_more().events == (START,)
    write_at(file.descriptor, *Head(file.count + 1, digest).dump())
    assert [type(each).__name__ for each in live.read_more().events] == ["Cancelled"]


def test_a_record_behind_the_head_counts_when_nobody_executes_the_run(
    journal: Journal, live: LiveJournal, path: Path
) -> None:
    journal.append(START)
    file = journal._file
    data, _ = dump_record(file._digest, file.count, b"\n" + b'{"is":"cancelled","reason":"x"}')
    write_at(file.descriptor, file._end, data)
    assert live.read_more().events == (START,)  # who executes the run has not acknowledged the next
    journal.close()
    assert [type(each).__name__ for each in live.read_more().events] == ["Cancelled"]
    assert live.read_more() == News((), begins=False)
    with closing(open_journal(path)) as resumed:
        assert resumed.count == 2
        assert live.read_more() == News((), begins=False)
    with closing(LiveJournal(path)) as again:
        assert len(again.read_more().events) == 2


@pytest.mark.parametrize("place", [512, 1024])
def test_one_head_may_be_in_the_middle_of_being_written(journal: Journal, path: Path, place: int) -> None:
    journal.append(START)
    journal.append(answered(1))
    write_at(journal._file.descriptor, place, b"half")
    with closing(LiveJournal(path)) as live:
        assert len(live.read_more().events) == (2 if place == 512 else 1)
    write_at(journal._file.descriptor, 1536 - place, b"half")
    with closing(LiveJournal(path)) as live:
        assert refusal(live).reason is Reason.DAMAGED


def test_a_file_that_was_replaced_is_begun_again(journal: Journal, live: LiveJournal, path: Path, plan: bytes) -> None:
    live.read_more()
    journal.close()
    other = create(path, plan, live.digest, {"scenario": "elsewhere"})
    other.append(START)
    assert live.read_more() == News((START,), begins=True)
    assert live.facts == {"scenario": "elsewhere"}
    other.close()
    path.unlink()
    assert refusal(live).reason is Reason.MISSING


def test_a_journal_of_an_older_version_is_read_before_and_after_it_is_rewritten(tmp_path: Path) -> None:
    for each in JOURNALS.glob("killed-2.run*"):
        shutil.copyfile(each, tmp_path / each.name)
    path = tmp_path / "killed-2.run"
    known = read_journal(path).events
    with closing(LiveJournal(path)) as live:
        assert live.read_more() == News(known, begins=True)
        assert live.read_more() == News((), begins=False)
        with closing(open_journal(path)) as journal:
            assert live.read_more() == News(known, begins=True)
            journal.append(answered(999))
            assert live.read_more() == News((answered(999),), begins=False)


def test_damage_is_told_until_it_is_mended(journal: Journal, live: LiveJournal, path: Path) -> None:
    journal.append(START)
    live.read_more()
    journal.append(answered(1))
    journal.append(answered(2))
    whole = path.read_bytes()
    at = whole.index(b"one/draft#1")
    write_at(journal._file.descriptor, at, b"two")
    assert refusal(live).reason is Reason.DAMAGED
    assert refusal(live).reason is Reason.DAMAGED
    write_at(journal._file.descriptor, at, b"one")
    assert live.read_more() == News((START, answered(1), answered(2)), begins=True)


def test_what_was_read_may_not_disappear(journal: Journal, live: LiveJournal, path: Path) -> None:
    journal.append(START)
    before = path.read_bytes()
    journal.append(answered(1))
    live.read_more()
    write_at(journal._file.descriptor, 0, before)
    assert refusal(live).reason is Reason.DAMAGED
    assert live.read_more() == News((START,), begins=True)


def test_who_executes_a_run_holds_its_file(journal: Journal, live: LiveJournal) -> None:
    assert live.is_executed()
    journal.close()
    assert not live.is_executed()


def test_asking_keeps_nobody_from_executing(journal: Journal, live: LiveJournal, path: Path) -> None:
    journal.append(START)
    journal.close()
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            live.is_executed()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(50):
            open_journal(path).close()
    finally:
        over.set()
        asking.join()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.run")
    (tmp_path / "link.run").symlink_to(tmp_path / "pipe.run")
    (tmp_path / "folder.run").mkdir()
    for name in ("pipe", "link", "folder"):
        live = LiveJournal(tmp_path / f"{name}.run")
        assert refusal(live).reason is Reason.UNUSABLE
    assert refusal(LiveJournal(tmp_path / "none.run")).reason is Reason.MISSING


def test_a_file_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.run"
    path.touch()
    os.truncate(path, 1 << 40)
    assert refusal(LiveJournal(path)).reason is Reason.DAMAGED


def test_a_stored_run_is_read_whoever_executes_it(journal: Journal, path: Path) -> None:
    journal.append(START)
    found = read_stored(path)
    assert (found.history.events, found.is_executed) == ((START,), True)
    journal.close()
    found = read_stored(path)
    assert (found.history, found.is_executed) == (read_journal(path), False)


def test_a_stored_run_is_read_that_somebody_begins_to_execute_meanwhile(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(START)
    monkeypatch.setattr(LiveJournal, "is_executed", lambda _: False)
    found = read_stored(path)
    assert (found.history.events, found.is_executed) == ((START,), True)


def write_for_ever(path: Path) -> None:
    """Go on with a journal in a process of its own, until that is killed."""
    with closing(open_journal(path)) as journal:
        if not journal.count:
            journal.append(START)
        while True:
            journal.append(answered(journal.count))
            journal.take_digest(f"step {journal.count}")


def begin(path: Path) -> int:
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            write_for_ever(path)
        os._exit(1)
    return child


def test_nothing_is_read_that_a_kill_takes_back(journal: Journal, live: LiveJournal, path: Path) -> None:
    """A writer is killed at random moments while somebody reads."""
    journal.close()
    seen: list[Event] = []
    for number in range(KILLS):
        child = begin(path)
        try:
            first = len(seen)
            for _ in range(number * 7 % 40):
                while not (events := live.read_more().events) and len(seen) == first:
                    assert os.waitpid(child, os.WNOHANG) == (0, 0)
                seen += events
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        seen += live.read_more().events
        kept = read_journal(path).events
        assert tuple(seen) == kept[: len(seen)]
        assert len(kept) - len(seen) in {0, 1}
    assert [each for each in seen if each != START] == [answered(number) for number in range(1, len(seen))]
