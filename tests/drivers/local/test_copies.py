"""Copies of journals, disks that are full, and journals that somebody made up."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from campaigns import choose

from stagec.runtime.drivers.local import Journal, JournalError, Reason, open_journal, read_journal
from stagec.runtime.drivers.local.journal_file import PAGE, ROOM, Head, dump_records
from stagec.runtime.machine import Answered

TOP = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from stagec.runtime.drivers.local import JournalError, open_journal
from stagec.runtime.machine import Answered
path, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
journal = open_journal(path)
try:
    for number in range(journal.count, 10_000):
        journal.append(Answered(f"key {number}", {"answer": "x" * (number * 37 % 9000)}))
        print(number, flush=True)
except JournalError as error:
    print(error, file=sys.stderr)
"""


def writer(path: Path, limit: int = 0) -> subprocess.Popen[str]:
    """Start a process that appends events and says the number of each one that it has appended."""
    argv = [sys.executable, "-c", WRITER, str(path), str(limit)]
    environment = {"PYTHONPATH": str(TOP / "compiler")}
    return subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def keys(path: Path) -> list[str]:
    return [each.key for each in read_journal(path).events if isinstance(each, Answered)]


def test_a_copy_of_a_journal_that_is_written_is_a_beginning_of_it(journal: Journal, path: Path, tmp_path: Path) -> None:
    journal.close()
    copies, said = tmp_path / "copies", 0
    copies.mkdir()
    with writer(path) as process:
        assert process.stdout is not None
        for number in range(choose(40, whole=200)):
            said = int(process.stdout.readline())
            shutil.copyfile(path, copies / f"{said}.run")
            assert number <= said
        process.kill()
    for copy in copies.iterdir():
        found = keys(copy)
        assert len(found) > int(copy.stem)
        assert found == [f"key {number}" for number in range(len(found))]
    assert len(keys(path)) > said


def test_a_copy_whose_pieces_were_read_at_different_moments_is_a_beginning(journal: Journal, path: Path) -> None:
    """Copying reads piece by piece: the first page is from before two events, one of them is torn."""
    journal.append(Answered("key 0", {"answer": 1}))
    before = path.read_bytes()
    journal.append(Answered("key 1", {"answer": "x" * 500}))
    journal.append(Answered("key 2", {"answer": 3}))
    journal.close()
    after = bytearray(path.read_bytes())
    after[:PAGE] = before[:PAGE]
    middle = after.index(b"x" * 500) + 100
    after[middle : middle + 300] = bytes(300)
    path.write_bytes(after)
    assert keys(path) == ["key 0"]
    reopened = open_journal(path)
    reopened.append(Answered("after", {"answer": 1}))
    reopened.close()
    assert keys(path) == ["key 0", "after"]


@pytest.mark.parametrize("limit", [ROOM + 8_000, ROOM + 100_001, 4 * ROOM + 4_095, 7 * ROOM])
def test_nothing_that_was_acknowledged_is_lost_where_the_disk_is_full(journal: Journal, path: Path, limit: int) -> None:
    journal.close()
    out, told = writer(path, limit).communicate()
    said = [int(line) for line in out.splitlines()]
    assert told == "an event cannot be written: File too large\n"
    assert len(keys(path)) - len(said) in {0, 1}
    reopened = open_journal(path)
    reopened.append(Answered("after", {"answer": 1}))
    reopened.close()
    assert keys(path)[-1] == "after"
    assert keys(path)[: len(said)] == [f"key {number}" for number in said]


def forged(path: Path, payloads: Sequence[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump_records(payloads)[0])
    return path


HOSTILE = {
    "no plan": [b"{}"],
    "facts of another kind": [b"[1]\n"],
    "facts nested too deeply": [b"[" * 100_000 + b"\n"],
    "no text": [b"\xff\n\xff"],
    "a plan of another digest": [b'{"digest":"sha256:0","facts":{}}\n{}'],
}
EVENTS = {
    "no event": [b"\n{}"],
    "no JSON": [b"\n{"],
    "an event nested too deeply": [b'\n{"is":"answered","key":"x","answer":' + b"[" * 100_000],
    "a number without end": [b'\n{"is":"answered","key":"x","answer":' + b"9" * 100_000 + b"}"],
    "bytes": [b"\n\xff\xfe"],
    "a step digest of bytes": [b'\n{"is":"answered","key":"x","answer":1}', b"\xff\n"],
    "an event twice": [b'\n{"is":"answered","key":"x","answer":1}', b'\n{"is":"answered","key":"x","answer":2}'],
    "an event behind the seal": [b"x\n", b'\n{"is":"answered","key":"x","answer":1}'],
    "an end twice": [b'\n{"is":"answered","key":"x","answer":1}', b"x\n", b"\n"],
    "an end before anything": [b"\n", b'\n{"is":"answered","key":"x","answer":1}'],
    "nothing": [b""],
}


@pytest.mark.parametrize("payloads", HOSTILE.values(), ids=HOSTILE)
def test_a_plan_that_somebody_made_up_is_damage(path: Path, payloads: list[bytes]) -> None:
    for attempt in (read_journal, open_journal):
        with pytest.raises(JournalError) as raised:
            attempt(forged(path, payloads))
        assert raised.value.reason is Reason.DAMAGED


@pytest.mark.parametrize("payloads", EVENTS.values(), ids=EVENTS)
def test_an_event_that_somebody_made_up_is_damage(journal: Journal, path: Path, payloads: list[bytes]) -> None:
    journal.close()
    beside = json.dumps({"digest": journal.history.digest, "facts": {}}).encode()
    for attempt in (read_journal, open_journal):
        with pytest.raises(JournalError) as raised:
            attempt(forged(path.with_name("other.run"), [beside + b"\n" + journal.history.plan, *payloads]))
        assert raised.value.reason is Reason.DAMAGED


@pytest.mark.parametrize("count", [0, 2, 1 << 63])
def test_a_head_that_somebody_made_up_is_damage(journal: Journal, path: Path, count: int) -> None:
    journal.close()
    data = bytearray(path.read_bytes())
    data[512:1100] = bytes(588)
    place, head = Head(count, b"x" * 32).dump()
    data[place : place + len(head)] = head
    path.write_bytes(data)
    with pytest.raises(JournalError, match=r"record \d is not what was written"):
        read_journal(path)


@pytest.mark.parametrize("size", [1 << 31, 1 << 33, 1 << 40])
def test_a_file_that_claims_to_be_large_takes_little_memory(journal: Journal, path: Path, size: int) -> None:
    journal.close()
    with path.open("r+b") as file:
        file.truncate(size)
        file.seek(4096 + 12)
        file.write(b"\x3f\xff\xff\xff")  # the length of the first record
    tracemalloc.start()
    with pytest.raises(JournalError) as raised:
        read_journal(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert raised.value.reason is Reason.DAMAGED
    assert most < 10_000_000


def test_a_large_answer_is_read_back(journal: Journal, path: Path) -> None:
    large = "x" * choose(3_000_000, whole=100_000_000)
    for number in range(2):
        journal.append(Answered(f"key {number}", {"answer": large}))
    journal.close()
    assert all(isinstance(each, Answered) and each.answer == {"answer": large} for each in read_journal(path).events)
