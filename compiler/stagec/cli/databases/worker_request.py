"""Execute runs of a database, until somebody ends this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.databases.run_sources import open_named
from stagec.cli.limits import load_configuration
from stagec.cli.running.runs import SUFFIX
from stagec.cli.running.stages import choose_reporter, has_stages
from stagec.cli.running.telemetry import is_configured
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.world_sources import Memory, choose_worlds
from stagec.cli.running.worlds import WorldSetup, open_world, protect, refuse_unfit_world, watch_mail
from stagec.cli.signatures import refuse_unsigned
from stagec.cli.streams import say
from stagec.core.collector import start_collector
from stagec.core.disk import leads_out
from stagec.core.failure import Exit, Failure
from stagec.core.interrupts import DeferredRequests
from stagec.core.json import Json
from stagec.core.value import replace, value
from stagec.core.words import quote, visible
from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import LiveRun, RunRecord, RunStore
from stagec.runtime.drivers.dbos.run_store import note_sent, read_sent
from stagec.runtime.machine import Effect, Program
from stagec.runtime.world.budget import BudgetedWorld
from stagec.runtime.world.scenario import Scenario, parse_scenario
from stagec.sources.project.configuration import Configuration

if TYPE_CHECKING:
    from stagec.runtime.telemetry.otlp import LiveTelemetry


class WorkerTelemetry:
    """Follows the runs of a worker; nothing that is wrong with the collector reaches them."""

    def __init__(self, store: RunStore, options: WorldOptions, tell: Callable[[str], None]) -> None:
        self._store, self._options, self._tell = store, options, tell
        self._is_on = options.telemetry or is_configured(os.environ)
        self._told = ""
        if self._is_on:
            self._look_for_libraries()

    def _look_for_libraries(self) -> None:
        """Raise `Failure` if --telemetry cannot work; where only variables ask for it, say so and continue without."""
        from stagec.runtime.telemetry.otlp import Collector

        try:
            Collector().close()
        except Failure as failure:
            if self._options.telemetry:
                raise
            self._is_on = False
            self._tell(f"note: no telemetry is sent: {failure}")

    @contextmanager
    def follow(self, run: str) -> Iterator[None]:
        """Send what a run does while the body executes it, without what somebody has sent before."""
        if not self._is_on:
            yield
            return
        live = self._open(run)
        live.start(messages=self._options.telemetry_messages)
        try:
            yield
        finally:
            trouble = live.finish()
            if trouble and trouble != self._told:
                how = "'stagec runs export --otlp' sends all of it"
                self._tell(f"note: telemetry of run {quote(visible(run))} is not complete: {trouble}; {how}")
            self._told = trouble

    def _open(self, run: str) -> LiveTelemetry:
        from stagec.runtime.telemetry.otlp import Collector, LiveTelemetry

        begun = self._store.load_program(self._store.find(run))

        def note(count: int) -> None:
            note_sent(self._store, run, count)

        return LiveTelemetry(LiveRun(self._store, run), begun, Collector(), read_sent(self._store, run), note)


STAGES = (
    "its stages are processes, which publish files in a folder of one machine, and workers share only a database. "
    "Instead, 'stagec run' executes it on the machine that has the folder, and 'stagec resume' continues it there"
)


class WorkerWorlds:
    """Makes the worlds of runs, in a folder of this machine, as the options of a worker say."""

    def __init__(self, store: RunStore, options: WorldOptions, configuration: Configuration, folder: Path) -> None:
        self._store, self._configuration, self._folder = store, configuration, folder
        self._options = replace(options, stream=False, answers=options.answers or "wait")
        self._others = choose_worlds(self._options, configuration.settings)
        self._telemetry = WorkerTelemetry(store, options, lambda told: say(f"stagec: {told}"))

    @contextmanager
    def open(self, record: RunRecord, program: Program, child: str = "", /) -> Iterator[WorkerWorld]:
        """Open the world of a run; raise `Failure` for a run that this worker may not execute, or cannot.

        The commands of each `child` have a lock of their own: those of its run are held while it is made.
        """
        named = f"the plan of run {quote(record.run)}"
        if self._configuration.settings.require_signature:
            refuse_unsigned(record.signature, dump(program.plan), self._configuration, named)
        if has_stages(program.plan):
            raise Failure(f"{named} cannot be run by a worker: {STAGES}")
        given = self._store.load_scenario(record)
        scenario = Scenario() if given is None else parse_scenario(given, f"the scenario of run {record.run}")
        refuse_unfit_world(program, self._options, scenario)
        path, reporter = self._folder / f"{record.run}{SUFFIX}", choose_reporter(program.plan, None)
        made_of = (path, program, self._options, scenario, self._others)
        protection = protect(self._folder, self._options, self._configuration, database=self._store.database.file)
        setup = WorldSetup(*made_of, None, reporter, watch_mail(path), protection, has_people=False, child=child)
        with open_world(setup) as opened, self._telemetry.follow(record.run):
            yield WorkerWorld(opened.world)


class WorkerWorld:
    """A world that hears what its run has done elsewhere."""

    def __init__(self, world: BudgetedWorld) -> None:
        self._world = world
        self.overlaps, self.cancel, self.takes = world.overlaps, world.cancel, world.takes
        self.name_provider = world.name_provider
        memory = Memory(world)
        self.observe, self.parts = memory.observe, memory.parts

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._world.answer(effect)


_FOLDER = Path(".stagec/worker")
"""The folder of the locks of a run's commands."""
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
    start_collector()
    _refuse_unfit(request)
    with open_named(request.database, _CONNECTIONS) as database:
        from stagec.runtime.drivers.dbos import RunStore, Worker, WorkerSettings
        from stagec.runtime.drivers.dbos.health import open_health, read_address

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
