"""A worker is killed in a step that asks a model again and again: another one repeats only what was under way."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from campaigns import sample
from crash.tool_loops import OPTIONS, ROUNDS, TOOLS, Folder, Kill
from in_databases import PATIENCE, WorkerProcess, end_worker, start_worker, wait_for, wait_until
from world.models.wire import serve

from stagec.runtime.drivers.dbos import RunPhase, RunStore
from stagec.runtime.drivers.dbos.database import workflows
from stagec.runtime.drivers.dbos.worker import put_back

OVER = (RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)


def put_all_back(runs: RunStore) -> None:
    """Do at once what workers do when one of them has had no heartbeat for some time."""
    with runs.database.transact() as connection:
        put_back(connection, workflows.c.status == "PENDING")


def start(folder: Folder) -> WorkerProcess:
    worker = start_worker(*OPTIONS, *TOOLS, folder=folder.path)
    folder.watch(worker.pid)
    return worker


def kill_workers(folder: Folder, runs: RunStore, kills: Sequence[Kill]) -> None:
    """Execute a run that nobody disturbs, and one whose workers are killed."""
    submit = ("submit", "plan.json", "--input", "topic=cats", "--run")
    folder.execute(*submit, "whole")
    worker = start(folder)
    assert wait_until(runs, "whole", *OVER).phase is RunPhase.DONE
    for number, each in enumerate(kills):
        folder.aim(each)
        if number == 0:
            folder.execute(*submit, "killed")
        worker.communicate(timeout=PATIENCE)
        assert worker.returncode == -signal.SIGKILL
        put_all_back(runs)
        worker = start(folder)
    wait_for(lambda: runs.find("killed").phase in OVER)
    told = end_worker(worker)
    assert runs.find("killed").phase is RunPhase.DONE, told


def test_a_worker_repeats_only_what_was_under_way(
    runs: RunStore, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = sample([Kill(is_call=True, number=2), Kill(is_call=False, number=3), Kill(is_call=False, number=ROUNDS)], 1)
    with serve() as wire:
        folder = Folder(tmp_path, wire, STAGEC_DATABASE=url)
        for name, each in folder.environment.items():
            monkeypatch.setenv(name, each)
        kill_workers(folder, runs, kills)
        assert [*folder.find_faults(kills)] == []
