"""A run of stages whose process ends at any call that changes the disk goes on as if nobody had disturbed it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

import nursery
import pytest
from campaigns import sample

TITLE, ONCE = "small-wine", "S03_notify_team"
PLAN = {
    "reportTitle": TITLE,
    "maxParallel": 2,
    "stages": [
        {
            "stageId": "S01_load_data",
            "goal": "Load the data of the wines",
            "inputs": {"raw": "wine.csv"},
            "outputs": {"df": "wine_df.csv"},
            "maxDurationSec": 60,
            "dependencies": [],
            "run": ["sh", "work.sh", "wine_df.csv"],
        },
        {
            "stageId": "S02_explore_data",
            "goal": "Explore the data of the wines",
            "inputs": {"df": "S01_load_data/wine_df.csv"},
            "outputs": {"one": "deep/one.csv", "two": "deep/er/two.csv"},
            "maxDurationSec": 60,
            "dependencies": ["S01_load_data"],
            "checkpointAfter": False,
            "run": ["sh", "work.sh", "deep/one.csv", "deep/er/two.csv"],
        },
        {
            "stageId": ONCE,
            "goal": "Notify the team about the wines",
            "inputs": {"one": "S02_explore_data/deep/one.csv"},
            "outputs": {"receipt": "receipt.csv"},
            "maxDurationSec": 60,
            "dependencies": ["S02_explore_data"],
            "retryable": False,
            "run": ["sh", "work.sh", "receipt.csv"],
        },
    ],
}
WORK = """\
echo "$STAGEC_STAGE_ID" >> ran
for each in "$@"; do
    echo "$STAGEC_STAGE_ID $each" > "$STAGEC_ATTEMPT_DIR/$each"
done
"""
NEVER_BEGAN = 2
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes end with their runner on Linux")


def stagec(folder: Path, *arguments: str, last: int = 10**9) -> tuple[int, int]:
    """Run a command, which may end at some call; return its status, and how many calls there were."""
    with Path(os.devnull).open("r+b") as nothing, TemporaryFile() as said:
        streams = (nothing.fileno(), said.fileno(), said.fileno())
        words = (str(last), *arguments)
        status = nursery.start(words, folder, nursery.inherit(), streams, "crash.counted").wait(300)
        said.seek(0)
        told = said.read().decode()
    assert status in {0, 1, 9} or "has not started" in told, told
    assert "Traceback" not in told
    return status, int(told.split()[-1]) if status != 9 else last


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    (folder / "work.sh").write_text(WORK, encoding="utf-8")
    (folder / "wine.csv").write_text("quality\n7\n", encoding="utf-8")
    assert stagec(folder, "compile", "plan.json", "-o", "frozen.json")[0] == 0
    return folder


def published(folder: Path) -> Mapping[str, str]:
    """Return what the stages of the run have published, by path."""
    top = folder / "reports" / TITLE / "run-001"
    files = (each for stage in top.glob("S*") for each in stage.rglob("*") if each.is_file())
    return {each.relative_to(top).as_posix(): each.read_text(encoding="utf-8") for each in files}


def list_vouched(folder: Path) -> set[str]:
    """Return the stages with a checkpoint that says that they are complete."""
    top = folder / "reports" / TITLE / "run-001" / "checkpoints"
    return {each.stem.removeprefix("ckpt-") for each in top.glob("ckpt-S*.json")}


def count_runs(folder: Path) -> Counter[str]:
    path = folder / "ran"
    return Counter(path.read_text(encoding="utf-8").split() if path.exists() else [])


def proceed(folder: Path, *options: str, last: int = 10**9) -> int:
    """Begin the run, or resume it once anything of it is in its journal; return the status."""
    if (folder / ".stagec/runs/run-001.run").exists():
        status, _ = stagec(folder, "resume", "run-001", "--project", ".", *options, last=last)
        if status != NEVER_BEGAN:
            return status
    return stagec(folder, "run", "frozen.json", "--run", "run-001", last=last)[0]


def find_torn(folder: Path, whole: Mapping[str, str]) -> set[str]:
    """Return the stages of which something is published, and not all of it."""
    stages = {path.partition("/")[0] for path in whole}
    found = published(folder)
    both = {stage: [{p: each[p] for p in each if p.startswith(stage)} for each in (found, whole)] for stage in stages}
    return {stage for stage, (own, all_of_it) in both.items() if own and own != all_of_it}


def look(folder: Path, whole: Mapping[str, str], last: int) -> None:
    """Begin or resume a run that ends at a call, let it come to its end, and judge it."""
    first = proceed(folder, last=last)
    assert find_torn(folder, whole) == set(), first
    kept, before = list_vouched(folder), count_runs(folder)
    status = proceed(folder)
    if status == 1:  # it may have begun what may not begin again
        assert ONCE not in kept
        assert count_runs(folder)[ONCE] == before[ONCE] <= 1, (first, last)
        status = proceed(folder, "--consent", ONCE)
    assert status == 0, (first, last)
    assert published(folder) == whole
    assert list_vouched(folder) == {"S01_load_data", ONCE}
    assert {stage: count for stage, count in (count_runs(folder) - before).items() if stage in kept} == {}


def test_a_run_that_ends_at_any_call_goes_on_to_the_same_result(tmp_path: Path) -> None:
    template = make(tmp_path / "template")
    undisturbed = shutil.copytree(template, tmp_path / "whole")
    status, calls = stagec(undisturbed, "run", "frozen.json", "--run", "run-001")
    whole = published(undisturbed)
    assert (status, len(whole), dict(count_runs(undisturbed))) == (
        0,
        4,
        {"S01_load_data": 1, "S02_explore_data": 1, ONCE: 1},
    )
    assert calls > 100
    for last in sample(range(calls), 5, full=8):
        folder = shutil.copytree(template, tmp_path / str(last))
        look(folder, whole, last)
        shutil.rmtree(folder)


def test_a_resumption_that_ends_at_any_call_goes_on_as_well(tmp_path: Path) -> None:
    template = make(tmp_path / "template")
    undisturbed = shutil.copytree(template, tmp_path / "whole")
    _, calls = stagec(undisturbed, "run", "frozen.json", "--run", "run-001")
    whole = published(undisturbed)
    half = shutil.copytree(template, tmp_path / "half")
    assert proceed(half, last=calls // 2) == 9
    for again in sample(range(calls), 3, full=4):
        folder = shutil.copytree(half, tmp_path / str(again))
        look(folder, whole, again)
        shutil.rmtree(folder)
