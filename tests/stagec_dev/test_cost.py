from __future__ import annotations

from pathlib import Path

import pytest

from stagec.core.shelf import names
from stagec_dev.cost import python, usage
from stagec_dev.tools.bench import benchmarks


def test_processor_time_is_that_of_the_child(tmp_path: Path) -> None:
    idle = python("import time; time.sleep(0.2)", tmp_path, runs=1)
    busy = python("import time\nwhile time.process_time() < 0.4: pass", tmp_path, runs=1)
    assert idle.seconds() < 0.3 <= busy.seconds()


def test_peak_memory_is_that_of_one_child(tmp_path: Path) -> None:
    held = b"x" * 200_000_000
    large = python(f"held = b'x' * {len(held)}", tmp_path, runs=1)
    small = python("pass", tmp_path, runs=1)
    assert large.peak() > 200_000_000 > small.peak()


def test_a_program_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        usage(python("raise SystemExit(3)", tmp_path).argv, tmp_path)


def test_every_benchmark_has_a_title_of_its_own() -> None:
    every = benchmarks()
    import benchmarks as shelf

    assert len({each.title for each in every}) == len(names(shelf))
