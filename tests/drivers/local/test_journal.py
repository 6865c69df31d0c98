"""Journals: what is written is there, once, in order, and nothing is believed that is not as it was written."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stagec.drivers.local import History, Journal, JournalError, Reason, create, open_journal, read_journal
from stagec.runtime import Answered, Cancelled, Event, Program, Started

TOP = Path(__file__).parents[3]
EVENTS: tuple[Event, ...] = (
    Started("one", None, {"topic": "winter"}),
    Answered("one/draft#1/1.0", {"answer": {"action": "next", "half": "\ud800", "text": "Käse\x00"}}),
    Answered("one/close#1/1.0", {"answer": [1, 1.5, None, True, 2**60]}),
    Cancelled("enough"),
)


def filled(journal: Journal) -> None:
    for number, event in enumerate(EVENTS):
        journal.append(event)
        journal.mark(f"mark {number}")
    journal.seal()
    journal.close()


def refusal(action: Callable[[], object]) -> JournalError:
    with pytest.raises(JournalError) as raised:
        action()
    return raised.value


def test_what_is_appended_is_read_back(journal: Journal, path: Path, plan: bytes, program: Program) -> None:
    filled(journal)
    marks = tuple(f"mark {number}" for number in range(len(EVENTS)))
    assert read_journal(path) == History(plan, program.digest, EVENTS, marks, {"scenario": "somewhere"})


def test_a_mark_is_kept_with_the_next_event(journal: Journal, path: Path) -> None:
    for event in EVENTS[:2]:
        journal.append(event)
        journal.mark("mark")
    journal.close()
    assert read_journal(path).marks == ("mark", "")


def test_nothing_follows_the_seal(journal: Journal, path: Path) -> None:
    journal.append(EVENTS[0])
    journal.seal()
    assert refusal(lambda: journal.append(EVENTS[1])).reason is Reason.UNUSABLE
    journal.close()
    assert read_journal(path).events == EVENTS[:1]


def test_the_log_has_room_before_anything_has_happened(journal: Journal, path: Path) -> None:
    before = Path(f"{path}-wal").stat().st_size
    for event in EVENTS:
        journal.append(event)
    assert Path(f"{path}-wal").stat().st_size == before >= 512 * 1024


def test_an_open_journal_goes_on_where_it_ended(journal: Journal, path: Path) -> None:
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
    for _ in range(100_000):
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
from stagec.drivers.local import JournalError, create, open_journal, read_journal
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


def test_an_empty_file_never_began(tmp_path: Path) -> None:
    path = tmp_path / "empty.run"
    path.touch()
    assert refusal(lambda: open_journal(path)).reason is Reason.EMPTY


@pytest.mark.parametrize("data", [b"not a database", b"SQLite format 3\0" + b"\1" * 100, b"\0" * 4096])
def test_a_file_of_something_else_is_no_journal(tmp_path: Path, data: bytes, plan: bytes) -> None:
    path = tmp_path / "other.run"
    path.write_bytes(data)
    assert refusal(lambda: open_journal(path)).reason is Reason.DAMAGED
    assert refusal(lambda: create(path, plan, "")).reason is Reason.DAMAGED


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    assert refusal(lambda: open_journal(tmp_path)).reason is Reason.UNUSABLE


CHANGES = {
    "an answer": "UPDATE events SET body = replace(body, 'next', 'back')",
    "a mark": "UPDATE events SET mark = 'x' WHERE seq = 2",
    "a key": "UPDATE events SET key = 'x' WHERE seq = 1",
    "the order": "UPDATE events SET seq = -seq",
    "an event twice": "INSERT INTO events SELECT seq + 1, key, body, mark, chain FROM events ORDER BY seq DESC LIMIT 1",
    "a hole": "DELETE FROM events WHERE seq = 1",
    "no text": "UPDATE events SET body = x'00' WHERE seq = 1",
    "the plan": "UPDATE facts SET value = substr(value, 1, 500) || x'20' || substr(value, 502) WHERE name = 'plan'",
    "no plan": "DELETE FROM facts WHERE name = 'plan'",
    "a fact": "UPDATE facts SET value = 'elsewhere' WHERE name = 'scenario'",
    "a blob": "UPDATE facts SET value = x'ff' WHERE name = 'scenario'",
    "another fact": "INSERT INTO facts VALUES ('more', 'x')",
    "another table": "CREATE TABLE more (x)",
    "a view": "ALTER TABLE events RENAME TO other; CREATE VIEW events AS SELECT * FROM other",
    "another program": "PRAGMA application_id = 1",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_behind_its_back_is_noticed(journal: Journal, path: Path, change: str) -> None:
    filled(journal)
    connection = sqlite3.connect(path)
    connection.executescript(change)
    connection.close()
    assert refusal(lambda: open_journal(path)).reason is Reason.DAMAGED


def test_tables_of_another_version_are_left_alone(journal: Journal, path: Path) -> None:
    filled(journal)
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA user_version = 3")
    connection.close()
    error = refusal(lambda: open_journal(path))
    assert (error.reason, str(error)) == (
        Reason.UNUSABLE,
        "its journal has version 3, and this is a reader of version 2",
    )


def interrupted(journal: Journal, copy: Path, path: Path) -> Path:
    """Return a copy of a journal as it lies on the disk while it is written: the file, and its log beside it."""
    for event in EVENTS:
        journal.append(event)
    copy.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", copy / f"one.run{suffix}")
    return copy / "one.run"


def beginning(path: Path) -> tuple[Event, ...]:
    """Return the events in a journal, none where it had not been begun."""
    try:
        return read_journal(path).events
    except JournalError as error:
        if error.reason is Reason.EMPTY:
            return ()
        raise


def test_every_beginning_of_the_log_is_a_beginning_of_the_history(journal: Journal, path: Path, tmp_path: Path) -> None:
    left = interrupted(journal, tmp_path / "copy", path)
    whole, log = left.read_bytes(), Path(f"{left}-wal").read_bytes()
    seen = set()
    for end in range(0, len(log) + 1, 97):
        left.write_bytes(whole)
        Path(f"{left}-wal").write_bytes(log[:end])
        found = beginning(left)
        assert found == EVENTS[: len(found)]
        seen.add(len(found))
    assert len(seen) > 1


def test_a_file_that_is_cut_off_is_never_half_believed(journal: Journal, path: Path) -> None:
    filled(journal)
    whole = path.read_bytes()
    for end in range(0, len(whole), 331):
        path.write_bytes(whole[:end])
        assert refusal(lambda: open_journal(path)).reason in {Reason.DAMAGED, Reason.EMPTY}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_history(journal: Journal, path: Path, place: int, bit: int) -> None:
    if journal.count == 0:
        filled(journal)
    kept = path.with_suffix(".kept")
    if not kept.exists():
        shutil.copyfile(path, kept)
    data = bytearray(kept.read_bytes())
    data[place % len(data)] ^= 1 << bit
    path.write_bytes(data)
    try:
        found = read_journal(path)
    except JournalError:
        return
    assert found.events == EVENTS[: len(found.events)]
    assert found.events == EVENTS


def test_a_database_of_somebody_else_is_left_as_it_is(tmp_path: Path, plan: bytes) -> None:
    path = tmp_path / "other.run"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE events (x); INSERT INTO events VALUES (1)")
    connection.close()
    before = path.read_bytes()
    for attempt in (lambda: open_journal(path), lambda: create(path, plan, "")):
        error = refusal(attempt)
        assert (error.reason, str(error)) == (Reason.DAMAGED, "it is no journal")
    assert path.read_bytes() == before


def test_folders_are_made_and_kept(tmp_path: Path, plan: bytes, program: Program) -> None:
    deep = tmp_path / "a" / "b" / "c" / "one.run"
    create(deep, plan, program.digest).close()
    assert deep.exists()
