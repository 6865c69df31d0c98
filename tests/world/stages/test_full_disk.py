"""A disk that is full: a clean failure, nothing that was complete is lost, and it goes on when there is room again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

import programs
import pytest
from world.stages.workshop import Workshop, is_success, stage, writes

from stagec.ir.protocol.checkpoint import TrustLevel
from stagec.runtime.world.checkpoints import judge_checkpoint

SIZE = 256 * 1024
FILLS = """
with open(outputs["data"], "wb", buffering=0) as file:
    while True:
        file.write(bytes(4096))
"""


@pytest.fixture
@programs.starts("mount", "umount")
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a small disk of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},nr_inodes=100", "tmpfs", path], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a small disk needs the right to mount it")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def fill(path: Path) -> None:
    """Leave room neither for a byte nor for a name."""
    (path / "filler").mkdir()
    with suppress(OSError), (path / "filler" / "bytes").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with suppress(OSError):
        for number in range(1_000):
            (path / "filler" / str(number)).touch()


def shop_in(root: Path) -> Workshop:
    return Workshop(
        root,
        {"S01_load_data": stage(writes(), {"data": "data"}), "S02_clean_data": stage(FILLS, {"data": "data"})},
        S02_clean_data=("S01_load_data",),
    )


def is_whole(shop: Workshop) -> bool:
    """Tell whether the first stage is complete, as whoever resumes the run looks at it."""
    return judge_checkpoint(shop.path("checkpoints/ckpt-S01_load_data.json"), TrustLevel.UNTRUSTED).is_valid


def test_a_stage_that_fills_the_disk_fails_and_takes_nothing_with_it(disk: Path) -> None:
    shop = shop_in(disk)
    shop.complete("S01_load_data")
    answer = shop.execute("S02_clean_data")
    assert (answer["exit"], answer["interrupted"], list(answer["outputs"])) == (1, None, ["data"])
    assert "No space left on device" in " ".join(sentence for _, sentence in shop.told) + shop.log()
    assert shop.preserve("S02_clean_data")["valid"] is True
    assert is_whole(shop)
    shop.world.close()


def test_what_cannot_be_published_can_be_when_there_is_room(disk: Path) -> None:
    """Nothing is published when the disk is full, and what waits for its publication stays."""
    shop = shop_in(disk)
    answer = shop.execute("S01_load_data")
    assert is_success(answer)
    fill(disk)
    told = shop.publish("S01_load_data", answer["outputs"])
    assert "No space left on device" in str(told.get("error"))
    assert not shop.path("checkpoints/ckpt-S01_load_data.json").exists()
    rmtree(disk / "filler")
    assert shop.publish("S01_load_data", answer["outputs"]) == {"checkpoint": "ckpt-S01_load_data"}
    assert is_whole(shop)
    shop.world.close()


def test_a_stage_does_not_begin_on_a_full_disk(disk: Path) -> None:
    shop = shop_in(disk)
    shop.complete("S01_load_data")
    fill(disk)
    answer = shop.execute("S02_clean_data")
    assert (answer["exit"], answer["outputs"]) == (None, {})
    assert answer["error"] == "its attempt directory cannot be made: No space left on device"
    assert is_whole(shop)
    shop.world.close()
