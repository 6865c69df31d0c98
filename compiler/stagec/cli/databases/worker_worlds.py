"""The worlds of runs that a worker executes: as for other runs, but nobody sits at its terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stagec.cli.databases.worker_telemetry import WorkerTelemetry
from stagec.cli.running.runs import SUFFIX
from stagec.cli.running.stage_reporter import choose_reporter
from stagec.cli.running.stages import has_stages
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.world_sources import Memory, choose_worlds
from stagec.cli.running.worlds import WorldSetup, open_world, protect, refuse_unfit_world, watch_mail
from stagec.cli.signatures import refuse_unsigned
from stagec.cli.streams import say
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.drivers.dbos import RunRecord, RunStore
from stagec.plan import dump
from stagec.project.configuration import Configuration
from stagec.runtime import Effect, Program
from stagec.world.budget import BudgetedWorld
from stagec.world.scenario import Scenario, parse_scenario

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
    def open(self, record: RunRecord, program: Program) -> Iterator[WorkerWorld]:
        """Open the world of a run; raise `Failure` for a run that this worker may not execute, or cannot."""
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
        setup = WorldSetup(*made_of, None, reporter, watch_mail(path), protection, has_people=False)
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
