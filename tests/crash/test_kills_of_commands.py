"""A command ends with the run that started it, however that ends, and none runs beside another under its key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from campaigns import choose
from crash.kills import COMMANDS, killed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


def test_no_command_outlives_its_run_or_runs_beside_another(tmp_path: Path) -> None:
    kills = list(killed(tmp_path, choose(3, full=len(COMMANDS), whole=2 * len(COMMANDS))))
    assert [each for each in kills if each.faults] == []
    assert all(each.was_running for each in kills)
