from __future__ import annotations

from pathlib import Path

import pytest

from stagec_dev.cost import python, usage


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
