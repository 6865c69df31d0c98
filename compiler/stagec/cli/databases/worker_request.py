"""Execute runs of a database, until somebody ends this process."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

from stagec.cli.databases.opening import open_named
from stagec.cli.limits import load_configuration
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.streams import say
from stagec.core.disk import leads_out
from stagec.core.failure import Exit, Failure
from stagec.core.interrupts import DeferredRequests
from stagec.core.value import value
from stagec.core.words import quote, visible

_FOLDER = Path(".stagec/worker")
"""Where commands of a run are locked while they run."""
_CONNECTIONS = 20
"""Connections of a worker at most, however many runs it executes."""
_NO_USE = ("scenario", "events", "project", "executor", "max_parallel", "wait")
"""Options of worlds that mean nothing to a worker."""


@value
class WorkerRequest:
    """The options as given; None where one is absent."""

    database: str | None
    world: WorldOptions
    concurrency: int | None = None
    grace: float = 30.0
    keep_days: float | None = None
    patience: float = 15.0
    listen: str | None = None
    fan_out: bool = False

    @property
    def keep_seconds(self) -> float | None:
        """For how long runs are kept that have ended; None for ever."""
        return None if self.keep_days is None else self.keep_days * 86_400


def work(request: WorkerRequest) -> Exit:
    """Execute runs until SIGTERM or Ctrl-C comes, and hand on what is under way then."""
    _refuse_unfit(request)
    with open_named(request.database, _CONNECTIONS) as database:
        from stagec.cli.databases.worker_worlds import WorkerWorlds
        from stagec.drivers.dbos import RunStore, Worker, WorkerSettings
        from stagec.drivers.dbos.health import open_health, read_address

        worlds = WorkerWorlds(RunStore(database), request.world, load_configuration((Path(),)), _FOLDER)
        timing = (request.concurrency, request.grace, request.patience, request.keep_seconds)
        worker = Worker(database, WorkerSettings(worlds.open, _tell, *timing, fans_out=request.fan_out))
        health = nullcontext() if request.listen is None else open_health(worker, read_address(request.listen))
        try:
            with health, DeferredRequests(worker.drain):
                say(f"stagec: worker {worker.name} takes runs from {database.name}; Ctrl-C ends it")
                worker.work()
        except KeyboardInterrupt as request_to_end:
            if request_to_end.__context__ is not None:  # why the work has failed meanwhile
                raise request_to_end.__context__ from None
            say("stagec: the worker has ended, and has returned its runs")
        return Exit.CLEAN


def _tell(told: str) -> None:
    say(f"stagec: {visible(told)}")


def _refuse_unfit(request: WorkerRequest) -> None:
    unused = [name for name in _NO_USE if getattr(request.world, name) not in {None, False}]
    if unused:
        raise Failure(f"--{unused[0].replace('_', '-')} has no effect in a worker: it executes submitted runs")
    if request.world.answers == "ask":
        raise Failure("a worker does not ask at its terminal: --answers must be 'wait', 'allow' or 'deny'")
    if leads_out(os.curdir, _FOLDER):
        raise Failure(f"{quote(_FOLDER)} is reached through a link that leads out of this folder")
