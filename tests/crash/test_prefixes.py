"""What is left of a journal is the beginning of the history, or refused; it is never anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaigns import choose, sample
from crash.flows import flow, program

from stagec.runtime.drivers.local import (
    History,
    Journal,
    JournalError,
    Reason,
    RunSession,
    create,
    proceed,
    read_journal,
)
from stagec.runtime.drivers.local.journal_file import PAGE, ROOM
from stagec.runtime.machine import Event, State

MEMORY = Path("/dev/shm")  # noqa: S108
"""A file system in memory, where there is one: thousands of files are written, and no durability is at stake."""
PARTS = choose(1, whole=4)
"""Parts of long tests, which then run beside each other."""
MOST = 500
"""Places in a file that are tried in a quick run."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        yield Path(made)


def run(name: str, path: Path) -> tuple[bytes, History]:
    """Run a flow; return its file, and what it holds."""
    given = flow(name)
    with closing(create(path, given.plan, program(name).digest)) as journal:
        proceed(RunSession(program(name), journal, given.world), State(), given.started)
    return path.read_bytes(), read_journal(path)


def believed(path: Path, data: bytes, history: History) -> int | None:
    """Return how many events are read, which must be those that happened; nothing for a journal that is damaged."""
    path.write_bytes(data)
    try:
        found = read_journal(path)
    except JournalError as error:
        if error.reason is not Reason.DAMAGED:
            raise
        return None
    held = len(found.events)
    assert (found.plan, found.digest, found.facts) == (history.plan, history.digest, history.facts)
    assert found.events == history.events[:held]
    assert found.step_digests in {history.step_digests[:held], (*history.step_digests[: held - 1], "") if held else ()}
    return held


def changed(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


def some_bits(place: int) -> int:
    """Return the bits of a byte that are changed: other ones at every place, never none."""
    return place * 167 % 255 + 1


@pytest.mark.parametrize("part", range(PARTS))
def test_no_beginning_of_a_journal_is_taken_for_another_history(folder: Path, part: int) -> None:
    data, history = run("looking", folder / "one.run")
    ends = sample(range(part, len(data) - ROOM, PARTS), MOST)
    assert {believed(folder / "copy.run", data[:end], history) for end in ends} == {None}
    assert believed(folder / "copy.run", data[: len(data) - ROOM], history) in {None, len(history.events)}


@pytest.mark.parametrize("part", range(PARTS))
def test_no_changed_byte_makes_another_history(folder: Path, part: int) -> None:
    data, history = run("looking", folder / "one.run")
    for place in sample(range(part, len(data) - ROOM + 100, PARTS), MOST):
        found = believed(folder / "copy.run", changed(data, place, some_bits(place)), history)
        assert found in {None, len(history.events)}


class Watched:
    """A journal whose file is looked at after each commit."""

    def __init__(self, journal: Journal, visit: Callable[[], None]) -> None:
        self._journal = journal
        self._visit = visit
        self.waits = journal.waits

    @property
    def count(self) -> int:
        return self._journal.count

    def append(self, event: Event, body: str, /) -> None:
        self._journal.append(event, body)
        self._visit()

    def take_digest(self, step_digest: str, /) -> None:
        self._journal.take_digest(step_digest)

    def seal(self) -> None:
        self._journal.seal()
        self._visit()


def each_moment(name: str, path: Path) -> tuple[list[tuple[bytes, int]], History]:
    """Run a flow; return its file at the end of each commit, with the number of events then, and its history."""
    given, moments = flow(name), list[tuple[bytes, int]]()
    with closing(create(path, given.plan, program(name).digest)) as journal:

        def visit() -> None:
            moments.append((path.read_bytes(), journal.count))

        visit()
        proceed(RunSession(program(name), Watched(journal, visit), given.world), State(), given.started)
    return moments, read_journal(path)


def torn(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield what a file may be while it becomes another: written up to some byte, or some of its sectors written."""
    same = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(before))
    end = len(after.rstrip(b"\0"))
    for cut in range(same, end, max(1, (end - same) // 24)):
        yield after[:cut] + before[cut:]
    longer = before.ljust(len(after), b"\0")
    for pattern in (0b01, 0b10, 0b0011_0101, 0b1101_1001):
        yield b"".join(
            (after if pattern >> (at // 512 % 8) & 1 else longer)[at : at + 512] for at in range(0, len(after), 512)
        )


@pytest.mark.parametrize("name", ["drafting", "reworking", "solving"])
def test_a_crash_within_a_commit_leaves_the_history_before_or_after_it(folder: Path, name: str) -> None:
    """First the record is written; only when it is on the disk the head is, which may be there one commit later."""
    moments, history = each_moment(name, folder / "one.run")
    copy, earlier = folder / "copy.run", moments[0][0]
    for (before, held), (after, then) in pairwise(moments):
        assert believed(copy, before, history) == held
        for records in torn(before[PAGE:], after[PAGE:]):
            assert believed(copy, before[:PAGE] + records, history) in {held, then}
            assert believed(copy, earlier[:PAGE] + records, history) in {held, then}
        for page in torn(before[:PAGE], after[:PAGE]):
            assert believed(copy, page + after[PAGE:], history) == then
        earlier = before
    assert len(moments) == len(history.events) + 2
