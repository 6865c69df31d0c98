"""A process that executes stages takes them with it, however it dies, with all that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import gone, is_alive
from world.stages.test_hostile_stages import STUBBORN, pids

TOP = Path(__file__).parents[2]
RUNNER = f"""
import sys
from contextlib import closing
from pathlib import Path
from stagec.ir.plan.act import ProcessLimits
from stagec.runtime.machine.exchange import Execute, read_key
from stagec.runtime.world.commands import CommandLock
from stagec.runtime.world.local_world import LocalWorld, Permissions
from world.stages.workshop import Workshop, stage

root = Path(sys.argv[1])
shop = Workshop(root, {{"S01_load_data": stage({STUBBORN!r})}})
act = shop.plan.nodes["S01_load_data"].act
effect = Execute(shop.key("S01_load_data"), "S01_load_data", act.words, act.inputs, act.outputs, act.limits)
with closing(CommandLock(root / "run.commands")) as turns:
    LocalWorld(Permissions(), turns, shop.world, str(root)).answer(effect)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_of_a_stage_outlives_its_runner(tmp_path: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{TOP / 'compiler'}:{TOP / 'tests'}"}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(tmp_path)], env=environment, stderr=subprocess.DEVNULL, cwd=tmp_path
    ) as runner:
        while not (tmp_path / "pids").exists() or len(pids(tmp_path)) < 4:
            assert runner.poll() is None
            time.sleep(0.02)
        assert all(map(is_alive, pids(tmp_path)))
        runner.send_signal(number)
    assert all(map(gone, pids(tmp_path)))
