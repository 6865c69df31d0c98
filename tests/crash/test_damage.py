"""Journals of runs that were killed, and damaged afterwards: equal, or told as damaged, and never silently shorter."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from campaigns import choose
from crash.flows import Undisturbed, undisturbed
from crash.lives import Driver, Life, left, lived

from stagec.runtime.drivers.local import JournalError, Reason, read_journal

KILLS = choose(12, whole=80)
"""How many processes are killed in each flow."""
EACH = 10
"""How many copies of what one of them left are damaged."""
AIMS = ("appending", "committing", "committing", "kept", "asking", "answered", "any", "world")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed by signals of POSIX")


def place(data: bytes, chance: random.Random) -> int:
    """Return a place in a file, mostly where something is written."""
    used = len(data.rstrip(b"\0"))
    return chance.randrange(chance.choice((used, used, used, min(1200, used), len(data))))


def flip(data: bytes, chance: random.Random) -> bytes:
    at = place(data, chance)
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def take_out(data: bytes, chance: random.Random) -> bytes:
    at = place(data, chance)
    return data[:at] + data[at + chance.choice((1, 1, 1, 512)) :]


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: place(data, chance)]


def wipe(data: bytes, chance: random.Random) -> bytes:
    size = chance.choice((512, 1024, 4096, 8192))
    at = place(data, chance) // size * size
    return data[:at] + bytes(min(size, len(data) - at)) + data[at + size :]


def repeat(data: bytes, chance: random.Random) -> bytes:
    """Write a page where another one belongs, as a disk does that loses a write."""
    source, target = (place(data, chance) // 512 * 512 for _ in range(2))
    return data[:target] + data[source : source + 512] + data[target + 512 :]


DAMAGES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "bit": flip,
    "byte": take_out,
    "end": cut_off,
    "page": wipe,
    "misplaced": repeat,
}


def killed(name: str, driver: Driver, path: Path, whole: Undisturbed, chance: random.Random) -> Life:
    """Kill a process that runs a flow in a random moment, in some runs a second one that resumes it."""
    life = lived(driver, name, path, chance.choice(AIMS), chance.randrange(1, len(whole.events)))
    if chance.random() < 0.3:
        held = left(name, path, life, whole)
        life = lived(driver, name, path, chance.choice(AIMS), min(held + 1, len(whole.events) - 1))
    return life


def read(path: Path, data: bytes, whole: Undisturbed) -> int | None:
    """Return how many events are read, which must be those that happened; nothing for a journal that is damaged."""
    path.write_bytes(data)
    try:
        found = read_journal(path)
    except JournalError as error:
        if error.reason is not Reason.DAMAGED:
            raise
        return None
    assert found.events == whole.events[: len(found.events)]
    return len(found.events)


@pytest.fixture
def driver() -> Iterator[Driver]:
    with closing(Driver()) as made:
        yield made


@pytest.mark.parametrize("name", ["reworking", "drafting", "solving"])
def test_no_damage_after_a_kill_loses_what_was_acknowledged(driver: Driver, tmp_path: Path, name: str) -> None:
    whole, chance, tally = undisturbed(name, tmp_path / "whole.run"), random.Random(name), Counter[str]()  # noqa: S311
    for number in range(KILLS):
        folder = tmp_path / str(number)
        path = folder / "one.run"
        life = killed(name, driver, path, whole, chance)
        if not path.exists():
            continue
        held = left(name, path, life, whole)
        assert {each.name for each in folder.iterdir()} == {"one.run"}
        acknowledged = max(life.kept, default=(life.opened or 0) - 1) + 1
        data = path.read_bytes()
        for _ in range(EACH):
            kind, damage = chance.choice([*DAMAGES.items()])
            found = read(folder / "copy.run", damage(data, chance), whole)
            assert found in {None, held, acknowledged}
            tally[f"{kind}: {'damaged' if found is None else 'equal' if found == held else 'shorter'}"] += 1
        shutil.rmtree(folder)
    print(f"\n{name}: {tally.total()} trials, {dict(sorted(tally.items()))}")  # noqa: T201
    assert tally.total() >= KILLS * EACH * 0.8
    assert all(tally[f"{kind}: damaged"] for kind in DAMAGES)
