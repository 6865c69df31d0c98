"""The benchmarks can be loaded and run; what they measure is no test."""

from __future__ import annotations

import os

import pytest

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
