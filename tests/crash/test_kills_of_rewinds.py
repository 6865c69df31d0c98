"""Kills of `resume --from` and `--fork` at each change of the disk: the run resumes, or says what to do."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from crash.interruptions import Interruption, each_interruption
from playable import steps

from stagec.cli.app import run as stagec
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.facts import facts
from stagec.runtime.drivers.local import read_journal
from stagec.runtime.machine.exchange import Rewound

Shown = pytest.CaptureFixture[str]
NO_SPACE = "No space left on device"
RUNS = Path(".stagec/runs")
ANSWERS = """\
inputs: {{topic: winter}}
answers: {{draft: [{{action: repeat}}, {{action: next}}], close: [{{action: {}}}]}}
"""
BACK = ("resume", "one", "--from", "close", "--scenario", "good.yaml")
FORK = (*BACK, "--fork", "two")


@pytest.fixture(autouse=True)
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    """Execute a run that ends as failed, and keep a copy of it."""
    monkeypatch.chdir(tmp_path)
    Path("p").write_bytes(dump(replace(steps(), facts=facts(steps()))))
    Path("bad.yaml").write_text(ANSWERS.format("abort"), encoding="utf-8")
    Path("good.yaml").write_text(ANSWERS.format("closing"), encoding="utf-8")
    assert stagec(["run", "p", "--scenario", "bad.yaml", "--run", "one"]) == 1
    shutil.copytree(RUNS, "kept")
    capfd.readouterr()


def interrupt(words: tuple[str, ...], interruption: Interruption) -> None:
    """Run a command on the failed run until it is killed; then nothing of it is open any more."""
    shutil.rmtree(RUNS)
    shutil.copytree("kept", RUNS)
    before = set(os.listdir("/dev/fd"))
    with interruption.under_way():
        stagec(list(words))
    for each in set(os.listdir("/dev/fd")) - before:
        with suppress(OSError):  # that of the list itself is closed already
            os.close(int(each))


def describe(run: str, capfd: Shown) -> dict[str, Any]:
    capfd.readouterr()
    assert stagec(["runs", "show", run, "--format", "json"]) == 0
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    return told


def finish(run: str, capfd: Shown) -> None:
    """Do what a run says that is to be done next, until it is done."""
    before = describe(run, capfd)
    if before["outcome"] == "failed":
        assert stagec(["resume", run, "--scenario", "good.yaml"]) == 1  # it says again how it has ended
        assert stagec(["resume", run, "--from", "close", "--scenario", "good.yaml"]) == 0
    elif before["outcome"] is None:
        assert before["status"] == "interrupted"
        assert stagec(["resume", run, "--scenario", "good.yaml"]) == 0
    assert describe(run, capfd)["outcome"] == "done"
    assert stagec(["runs", "replay", run]) == 0


def test_a_rewind_that_is_killed_has_the_old_branch_or_the_new_one(capfd: Shown) -> None:
    begun: list[int] = []

    def attempt(interruption: Interruption) -> None:
        interrupt(BACK, interruption)
        events = read_journal(RUNS / "one.run").events
        begun.append(sum(isinstance(each, Rewound) for each in events))
        assert begun[-1] <= 1
        assert events[:4] == read_journal(Path("kept/one.run")).events[:4]
        finish("one", capfd)
        assert sum(isinstance(each, Rewound) for each in read_journal(RUNS / "one.run").events) == 1

    assert each_interruption(attempt, failures=False) > len(set(begun)) == 2


def test_a_fork_that_is_killed_is_whole_or_not_there(capfd: Shown) -> None:
    found: list[bool] = []

    def attempt(interruption: Interruption) -> None:
        interrupt(FORK, interruption)
        assert (RUNS / "one.run").read_bytes() == Path("kept/one.run").read_bytes()
        found.append((RUNS / "two.run").exists())
        if not found[-1]:
            assert stagec(list(FORK)) == 0
        finish("two", capfd)
        assert read_journal(RUNS / "two.run").facts["forked"] == "one@3"

    assert each_interruption(attempt, failures=False) > len(set(found)) == 2


def test_a_full_disk_tells_why_the_run_was_not_taken_back(capfd: Shown) -> None:
    def attempt(interruption: Interruption) -> None:
        capfd.readouterr()
        with suppress(OSError):
            interrupt(BACK, interruption)
        told = capfd.readouterr().err
        assert "Traceback" not in told, told
        assert not interruption.happened or NO_SPACE in told or describe("one", capfd)["outcome"] == "done"
        finish("one", capfd)

    number = 0
    interruption = Interruption(number, is_crash=False)
    attempt(interruption)
    while interruption.happened:
        number += 1
        interruption = Interruption(number, is_crash=False)
        attempt(interruption)
    assert number > 1
