"""A crash or an error at any write, sync and rename of artifacts and checkpoints: nothing is ever half-published."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from crash.interruptions import Interruption, each_interruption
from world.stages.workshop import Workshop, is_success, stage

from stagec.core.json import Json, object_of
from stagec.runtime.machine.exchange import Publish
from stagec.runtime.world.checkpoints import discard
from stagec.runtime.world.stage_files import RunFolder, prepare_attempt

OUTPUTS = {"a": "a.txt", "b": "deep/er/b.txt"}
PROGRAM = """
for name, path in outputs.items():
    Path(path).write_text(name + os.environ["STAGEC_IDEMPOTENCY_KEY"])
"""
STAGE = "S01_load_data"
MEMORY = Path("/dev/shm")  # noqa: S108


def shop_in(root: Path) -> Workshop:
    return Workshop(root, {STAGE: stage(PROGRAM, OUTPUTS)})


def published(root: Path) -> dict[str, str]:
    """Return the files in the directory of the stage, none if there is no such directory."""
    folder = root / "reports/wine-quality/run-001" / STAGE
    return {str(each.relative_to(folder)): each.read_text("utf-8") for each in folder.rglob("*") if each.is_file()}


def content(attempt: int) -> dict[str, str]:
    return {path: f"{name}run-001/{STAGE}#1/{attempt}.0" for name, path in OUTPUTS.items()}


def vouched(root: Path, checkpoint: str = f"ckpt-{STAGE}") -> dict[str, Any] | None:
    """Return what a checkpoint says, which must be true of the files it names; None if there is none."""
    run = root / "reports/wine-quality/run-001"
    path = run / "checkpoints" / f"{checkpoint}.json"
    if not path.exists():
        return None
    manifest: dict[str, Any] = json.loads(path.read_bytes())
    for each in manifest["artifacts"]:
        assert hashlib.sha256((run / each["relativePath"]).read_bytes()).hexdigest() == each["sha256"]
    return manifest


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder in memory, where there is one: no durability is at stake."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        yield Path(made)


class Lives:
    """Copies of a project before something happens, in which it is interrupted at every place."""

    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, root.with_name("lives")
        self._count = 0

    def fresh(self) -> Path:
        self._count += 1
        copy = self._folder / str(self._count)
        shutil.copytree(self._root, copy, symlinks=True)
        return copy


def list_finished(folder: Path) -> list[str]:
    """Return the names in a folder, but for temporary files that a crash leaves."""
    return [each.name for each in folder.iterdir() if not each.name.endswith(".tmp")]


@pytest.mark.parametrize("number", [1, 2])
def test_a_publication_that_is_interrupted_anywhere_is_finished_by_doing_it_again(folder: Path, number: int) -> None:
    """The first publication of a stage, and one that takes the place of another."""
    shop = shop_in(folder / "project")
    for each in range(1, number):
        shop.complete(STAGE, each)
    outputs = shop.execute(STAGE, number)["outputs"]
    shop.world.close()
    lives = Lives(folder / "project")

    def attempt(interruption: Interruption) -> None:
        root = lives.fresh()
        with closing(shop_in(root).world) as world, interruption.under_way():
            world.answer(Publish(shop.key(STAGE, number, 1), STAGE, outputs, checkpoint=True))
        assert published(root) in ({}, content(1), content(number))
        assert vouched(root) is None or published(root)
        again = shop_in(root)
        with closing(again.world):
            assert again.publish(STAGE, outputs, number) == {"checkpoint": f"ckpt-{STAGE}"}
        assert published(root) == content(number)
        assert (vouched(root) or {}).get("attempt") == number
        assert list_finished(again.path(".attempts")) == []
        assert list_finished(again.path("checkpoints")) == [f"ckpt-{STAGE}.json"]

    assert each_interruption(attempt) > 20


def test_an_emergency_checkpoint_that_is_interrupted_anywhere_is_whole_or_absent(folder: Path) -> None:
    shop = shop_in(folder / "project")
    shop.execute(STAGE)
    shop.world.close()
    lives, name = Lives(folder / "project"), f"ckpt-emergency-{STAGE}-1"

    def attempt(interruption: Interruption) -> None:
        root = lives.fresh()
        shop = shop_in(root)
        with closing(shop.world):
            with interruption.under_way():
                shop.preserve(STAGE, "timeout")
            vouched(root, name)
            assert shop.preserve(STAGE, "timeout") == {"checkpoint": name, "valid": True}
        assert vouched(root, name) is not None

    assert each_interruption(attempt) > 10


def test_what_is_discarded_is_not_vouched_for_while_it_goes(folder: Path) -> None:
    shop = shop_in(folder / "project")
    shop.complete(STAGE)
    shop.world.close()
    lives = Lives(folder / "project")

    def attempt(interruption: Interruption) -> None:
        root = lives.fresh()
        run = RunFolder(root, "wine-quality", "run-001")
        with suppress(OSError), interruption.under_way():
            discard(run, STAGE)
        assert published(root) == content(1) or vouched(root) is None
        discard(run, STAGE)
        assert (published(root), vouched(root)) == ({}, None)

    assert each_interruption(attempt) > 8


def test_an_attempt_that_cannot_be_prepared_is_begun_again(folder: Path) -> None:
    """Its process is no part of this: it begins when everything before it has been done."""
    shop = shop_in(folder / "project")
    shop.execute(STAGE)
    shop.world.close()
    lives = Lives(folder / "project")

    def attempt(interruption: Interruption) -> None:
        shop = shop_in(lives.fresh())
        with closing(shop.world):
            with interruption.under_way(), shop.run.enter(".attempts", make=True) as attempts:
                prepare_attempt(attempts, f"{STAGE}-1", OUTPUTS.values())
            answer = shop.execute(STAGE)
            assert is_success(answer)
            assert shop.publish(STAGE, answer["outputs"]) == {"checkpoint": f"ckpt-{STAGE}"}

    assert each_interruption(attempt, failures=False) > 10


def test_bytes_are_on_the_disk_before_names_and_names_before_the_checkpoint(folder: Path) -> None:
    shop = shop_in(folder)
    outputs = shop.execute(STAGE)["outputs"]
    interruption = Interruption()
    with interruption.under_way():
        shop.publish(STAGE, outputs)
    changes = [name for name in interruption.calls if name in {"fsync", "rename", "replace"}]
    files, folders = len(outputs), 3  # the attempt, and two folders in it
    checkpoint = ["fsync", "fsync", "replace", "fsync"]  # the folder of checkpoints is new; its file, its name
    assert changes == ["fsync"] * (files + folders) + ["rename", "fsync", "fsync"] + checkpoint
    shop.world.close()


def test_a_second_publication_needs_the_same_syncs_and_those_of_taking_the_first_away(folder: Path) -> None:
    shop = shop_in(folder)
    given: Mapping[str, Json] = {}
    for number in (1, 2):
        given = object_of(shop.execute(STAGE, number)["outputs"])
        interruption = Interruption()
        with interruption.under_way():
            shop.publish(STAGE, given, number)
    changes = [name for name in interruption.calls if name in {"fsync", "rename", "replace", "unlink"}]
    before = changes.index("rename")
    assert changes[:before] == ["fsync"] * (len(given) + 3) + ["unlink", "fsync"]
    assert changes[before:][:6] == ["rename", "fsync", "fsync"] * 2
    assert changes[before + 6 :][:3] == ["fsync", "replace", "fsync"]
    shop.world.close()
