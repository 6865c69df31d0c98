"""What is left of a journal is the beginning of the history, or refused; it is never anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from campaigns import choose, sample
from crash.flows import flow, program

from stagec.drivers.local import History, JournalError, Reason, Sitting, create, proceed, read_journal
from stagec.runtime import State

MEMORY = Path("/dev/shm")  # noqa: S108
"""A file system in memory, where there is one: thousands of files are written, and no durability is at stake."""
PARTS = choose(1, full=4)
"""Parts of long tests, which then run beside each other."""
MOST = 500
"""Places in a file that are tried in a quick run."""
_FRAME, _HEAD = 1024 + 24, 32
"""Bytes of a page of the log with its own header, and of the header of the log."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        yield Path(made)


class Left(NamedTuple):
    """The files of a journal: the database and its log."""

    database: bytes
    log: bytes

    def put(self, path: Path) -> Path:
        """Write the files to a path."""
        path.write_bytes(self.database)
        Path(f"{path}-wal").write_bytes(self.log)
        return path


def files(path: Path) -> Left:
    """Return the files of a journal, the log without the room at its end."""
    log = Path(f"{path}-wal").read_bytes().rstrip(b"\0")
    return Left(path.read_bytes(), log.ljust(_HEAD + -(-(len(log) - _HEAD) // _FRAME) * _FRAME, b"\0"))


def run(name: str, path: Path) -> tuple[Left, History, Left]:
    """Run a flow; return its files as a crash at the end leaves them, what they hold, and its closed files."""
    given = flow(name)
    with closing(create(path, given.plan, program(name).digest)) as journal:
        proceed(Sitting(program(name), journal, given.world), State(), given.started)
        crashed = files(path)
    history = read_journal(path)
    return crashed, history, Left(path.read_bytes(), b"")


def believed(path: Path, history: History) -> int | None:
    """Return how many events are read, which must be those that happened; nothing for a journal that is refused."""
    try:
        found = read_journal(path)
    except JournalError as error:
        if error.reason not in {Reason.DAMAGED, Reason.EMPTY, Reason.UNUSABLE}:
            raise
        return None
    held = len(found.events)
    assert (found.plan, found.digest, found.facts) == (history.plan, history.digest, history.facts)
    assert found.events == history.events[:held]
    assert found.marks in {history.marks[:held], (*history.marks[: held - 1], "") if held else ()}
    return held


def changed(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


def some_bits(place: int) -> int:
    """Return the bits of a byte that are changed: other ones at every place, never none."""
    return place * 167 % 255 + 1


@pytest.mark.parametrize("part", range(PARTS))
def test_every_beginning_of_a_log_is_a_beginning_of_the_history(folder: Path, part: int) -> None:
    crashed, history, _ = run("looking", folder / "one.run")
    held = [
        believed(crashed._replace(log=crashed.log[:end]).put(folder / "copy.run"), history)
        for end in sample(range(part, len(crashed.log) + 1, PARTS), MOST)
    ]
    told = [each for each in held if each is not None]
    assert held == [None] * (len(held) - len(told)) + sorted(told)
    assert {*told} >= {0, 1, 2}


def test_every_beginning_of_a_longer_log_is_a_beginning_of_the_history(folder: Path) -> None:
    crashed, history, _ = run("reworking", folder / "one.run")
    borders = (end + near for end in range(_HEAD, len(crashed.log) + 1, _FRAME) for near in (-1, 0, 1, 24, 500))
    ends = sorted({end for end in borders if end <= len(crashed.log)})
    held = [believed(crashed._replace(log=crashed.log[:end]).put(folder / "copy.run"), history) for end in ends]
    told = [each for each in held if each is not None]
    assert held == [None] * (len(held) - len(told)) + sorted(told)
    assert {*told} == {*range(len(history.events) + 1)}


@pytest.mark.parametrize("part", range(PARTS))
def test_no_changed_byte_of_a_log_makes_another_history(folder: Path, part: int) -> None:
    crashed, history, _ = run("looking", folder / "one.run")
    seen = set()
    for place in sample(range(part, len(crashed.log), PARTS), MOST):
        log = changed(crashed.log, place, some_bits(place))
        seen.add(believed(crashed._replace(log=log).put(folder / "copy.run"), history))
    assert {None, 0, 1, 2} <= seen


@pytest.mark.parametrize("part", range(PARTS))
def test_no_changed_byte_of_a_database_makes_another_history(folder: Path, part: int) -> None:
    _, history, ended = run("looking", folder / "one.run")
    for place in sample(range(part, len(ended.database), PARTS), MOST):
        damaged = changed(ended.database, place, some_bits(place))
        assert believed(Left(damaged, b"").put(folder / "copy.run"), history) in {None, len(history.events)}


def test_no_changed_byte_below_a_log_makes_another_history(folder: Path) -> None:
    crashed, history, _ = run("looking", folder / "one.run")
    for place in sample(range(len(crashed.database)), MOST):
        database = changed(crashed.database, place, some_bits(place))
        assert believed(crashed._replace(database=database).put(folder / "copy.run"), history) in {
            None,
            len(history.events),
        }


def test_a_database_that_is_cut_off_is_refused(folder: Path) -> None:
    _, history, ended = run("drafting", folder / "one.run")
    for end in sample(range(0, len(ended.database), 7), MOST):
        assert believed(Left(ended.database[:end], b"").put(folder / "copy.run"), history) is None


def each_moment(name: str, path: Path, visit: Callable[[Left, int], None]) -> History:
    """Run a flow, and show its files at the end of each commit, with the number of events that are acknowledged."""
    given = flow(name)
    with closing(create(path, given.plan, program(name).digest)) as journal:
        journal._connection.execute("PRAGMA wal_autocheckpoint = 12")  # so that a short run has many checkpoints
        visit(files(path), 0)
        sitting = Sitting(program(name), journal, given.world, lambda *_: visit(files(path), journal.count))
        proceed(sitting, State(), given.started)
    return read_journal(path)


def torn(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield what a file may be while it becomes another: written up to some byte, or some of its sectors written."""
    same = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(before))
    for end in range(same, len(after), max(1, (len(after) - same) // 24)):
        yield after[:end] + before[end:]
    longer = before.ljust(len(after), b"\0")
    for pattern in (0b01, 0b10, 0b0011_0101, 0b1101_1001):
        sectors = range(0, len(after), 512)
        yield (
            b"".join((after if pattern >> (at // 512 % 8) & 1 else longer)[at : at + 512] for at in sectors)
            + before[len(after) :]
        )


@pytest.mark.parametrize("name", ["drafting", "reworking"])
def test_a_crash_within_a_commit_leaves_the_history_before_or_after_it(folder: Path, name: str) -> None:
    moments: list[tuple[Left, int]] = []
    history = each_moment(name, folder / "one.run", lambda left, held: moments.append((left, held)))
    checkpoints = 0
    for (before, held), (after, _) in pairwise(moments):
        assert believed(before.put(folder / "copy.run"), history) == held
        for log in torn(before.log, after.log):
            assert believed(Left(before.database, log).put(folder / "copy.run"), history) in {held, held + 1}
        if before.database != after.database:
            checkpoints += 1
            for database in torn(before.database, after.database):
                assert believed(Left(database, after.log).put(folder / "copy.run"), history) == held + 1
    assert checkpoints > 0
    assert len(moments) == len(history.events) + 1
