"""Journals of versions 1 and 2, which were SQLite databases: they are read, and resumed in a new file."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from campaigns import sample
from playable import Answers

from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import History, JournalError, Reason, drive, open_journal, read_journal
from stagec.runtime.drivers.local.journal_file import VERSION
from stagec.runtime.drivers.replay import replay_twice
from stagec.runtime.machine import Program, Started, load
from stagec.runtime.machine.state import State

JOURNALS = Path(__file__).parent / "journals"
"""Of each version one run that has ended, and one that was killed in its middle, with its log beside it."""
MOST = 400
"""Places in a file that are tried, spread evenly."""


def copied(name: str, folder: Path) -> Path:
    for each in JOURNALS.glob(f"{name}.run*"):
        shutil.copyfile(each, folder / each.name)
    return folder / f"{name}.run"


def after(history: History, program: Program) -> object:
    """Return where a history leads, or the first event from which something else follows now."""
    return replay_twice(program, load(history.plan), history)


def run_python(code: str) -> str:
    top = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(top / "compiler")},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


@pytest.mark.parametrize("version", [1, 2])
def test_a_run_that_has_ended_is_read_and_replayed(tmp_path: Path, version: int) -> None:
    path = copied(f"ended-{version}", tmp_path)
    history = read_journal(path)
    state = after(history, load(history.plan))
    assert isinstance(state, State)
    assert (len(history.events), state.ended, history.facts) == (5, Outcome.DONE, {"scenario": "/somewhere/s.yaml"})
    assert all(history.step_digests)
    assert history.events[0] == Started("one", None, {"topic": "winter"}, machine=1)


@pytest.mark.parametrize("version", [1, 2])
def test_nothing_is_written_where_one_is_read(tmp_path: Path, version: int) -> None:
    path = copied(f"killed-{version}", tmp_path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert len(read_journal(path).events) == 3
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("version", [1, 2])
def test_a_run_that_was_killed_is_resumed_in_a_new_file_and_the_old_one_is_kept(tmp_path: Path, version: int) -> None:
    path = copied(f"killed-{version}", tmp_path)
    before = read_journal(path)
    program, world = load(before.plan), Answers()
    journal = open_journal(path)
    assert journal.history == before
    state = drive(program, journal, world, None)
    journal.close()
    assert (state.ended, world.asked) == (Outcome.DONE, ["one/close#1/1.0", "one/close#1/1.1"])
    found = read_journal(path)
    assert (found.events[:3], after(found, program)) == (before.events, state)
    assert read_journal(path.with_name(f"{path.name}.old")) == before
    assert path.read_bytes().startswith(b"stagec journal")


def test_a_run_that_another_process_has_open_is_left_alone(tmp_path: Path) -> None:
    path = copied("ended-2", tmp_path)
    before = path.read_bytes()  # who reads a file and closes it has no lock of it any more
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN IMMEDIATE")
    child = f"""
from pathlib import Path
from stagec.runtime.drivers.local import JournalError, open_journal, read_journal
for attempt in (read_journal, open_journal):
    try:
        attempt(Path({str(path)!r}))
    except JournalError as error:
        print(error.reason)
"""
    ended = run_python(child)
    connection.close()
    assert (ended, path.read_bytes()) == ("running\nrunning\n", before)


@pytest.mark.parametrize("version", [1, 2])
def test_a_copy_without_its_log_is_damaged(tmp_path: Path, version: int) -> None:
    path = copied(f"killed-{version}", tmp_path)
    Path(f"{path}-wal").unlink()
    with pytest.raises(JournalError, match="as a copy without its log is") as raised:
        read_journal(path)
    assert raised.value.reason is Reason.DAMAGED


CHANGES = {
    "an answer": "UPDATE events SET body = replace(body, 'next', 'back')",
    "a step digest": "UPDATE events SET mark = 'x' WHERE seq = 2",
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
    "a view without end": "DROP TABLE events; CREATE VIEW events AS WITH RECURSIVE x(seq) AS "
    "(SELECT 0 UNION ALL SELECT seq + 1 FROM x) SELECT seq, '' AS key, '' AS body, '' AS mark, '' AS chain FROM x",
    "another version": "PRAGMA user_version = 7",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_behind_its_back_is_noticed(tmp_path: Path, change: str) -> None:
    path = copied("ended-2", tmp_path)
    connection = sqlite3.connect(path)
    connection.executescript(change)
    connection.close()
    for attempt in (read_journal, open_journal):
        with pytest.raises(JournalError) as raised:
            attempt(path)
        assert raised.value.reason is Reason.DAMAGED


def altered(data: bytes) -> Iterator[bytes]:
    for place in sample(range(len(data)), MOST, full=MOST):
        yield data[:place] + bytes([data[place] ^ (place * 167 % 255 + 1)]) + data[place + 1 :]
        yield data[:place]


@pytest.mark.parametrize("file", ["ended-1.run", "ended-2.run", "killed-1.run-wal", "killed-2.run-wal"])
def test_no_damage_makes_another_history(tmp_path: Path, file: str) -> None:
    path = copied(file.partition(".")[0], tmp_path)
    whole = read_journal(path)
    data, seen = (tmp_path / file).read_bytes(), set()
    for changed in altered(data):
        (tmp_path / file).write_bytes(changed)
        try:
            found = read_journal(path)
        except JournalError as error:
            seen.add(str(error.reason))
            continue
        assert found.events == whole.events[: len(found.events)]
        seen.add(str(len(found.events)))
    assert "damaged" in seen


def test_a_changed_page_of_a_log_that_commits_follow_is_damage(tmp_path: Path) -> None:
    path = copied("killed-2", tmp_path)
    log = Path(f"{path}-wal")
    data = log.read_bytes()
    place = data.index(b'"is":"started"')
    log.write_bytes(data[:place] + b"\x20" + data[place + 1 :])
    with pytest.raises(JournalError, match="events follow in its log after one that is not what was written"):
        read_journal(path)


def test_one_journal_of_each_version_is_kept() -> None:
    kept = {path.stem for path in JOURNALS.glob("*.run")} - {"changed-3"}  # that of a run with another plan
    assert kept == {f"{state}-{version}" for state in ("ended", "killed") for version in range(1, VERSION + 1)}


def test_kept_journals_of_this_version_are_read_replayed_and_resumed_in_their_file(tmp_path: Path) -> None:
    ended = read_journal(copied(f"ended-{VERSION}", tmp_path))
    state = after(ended, load(ended.plan))
    assert isinstance(state, State)
    assert (len(ended.events), state.ended) == (5, Outcome.DONE)
    path = copied(f"killed-{VERSION}", tmp_path)
    world = Answers()
    with closing(open_journal(path)) as journal:
        assert len(journal.history.events) == 3
        assert drive(load(journal.history.plan), journal, world, None).ended is Outcome.DONE
    assert {each.name for each in tmp_path.iterdir()} == {"ended-3.run", "killed-3.run"}
