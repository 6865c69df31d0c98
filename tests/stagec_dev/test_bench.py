"""The benchmarks can be loaded and run; what they measure is no test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.core.shelf import names
from stagec_dev.__main__ import main
from stagec_dev.tools.bench import benchmarks


def test_every_benchmark_has_a_title_of_its_own() -> None:
    every = benchmarks()
    import benchmarks as shelf

    assert len({each.title for each in every}) == len(names(shelf))


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_a_benchmark_is_run_by_a_word_of_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "a transition in memory"]) == 0
    line = next(each for each in capsys.readouterr().out.splitlines() if "50,000 each second" in each)
    title, own, baseline, *_ = (cell.strip() for cell in line.strip("|").split("|"))
    assert (title, baseline) == ("machine: a transition in memory", "50,000 each second")
    assert float(own) > 0


def test_the_interrupted_run_of_a_benchmark_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmarks()
    from benchmarks._machines import interrupt

    interrupt(tmp_path / "long.run", 20)
    monkeypatch.chdir(tmp_path)
    assert run(["resume", "long.run", "--scenario", "scenario.json"]) == 0
