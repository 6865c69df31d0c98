"""The world of a run: the scenario, what `--world` and `--world-command` name, and this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stagec.cli.running.other_worlds import OtherWorlds
from stagec.cli.running.people import People, PeopleSetup
from stagec.cli.running.report import RunReporter
from stagec.cli.running.runs import name_of, turns_of
from stagec.cli.running.stages import open_stages
from stagec.core.value import value
from stagec.runtime import Program
from stagec.world.budget import Budget, BudgetedWorld
from stagec.world.command_lock import CommandLock
from stagec.world.composed import ComposedWorld, WorldPart
from stagec.world.local_world import ClosedWorld, LocalWorld, Permissions
from stagec.world.scenario import Scenario
from stagec.world.scripted_world import ScriptedWorld
from stagec.world.stages.closed_stages import ClosedStages
from stagec.world.stages.run_folder import RunFolder
from stagec.world.stages.stage_world import StageWorld


@value
class WorldSetup:
    """What a world is made of: the file of the run, its program and scenario, permissions, and who else answers.

    `folder` is the directory of a run of stages. The reporter hears of these while they run.
    """

    path: Path
    program: Program
    scenario: Scenario
    permissions: Permissions
    others: OtherWorlds
    folder: RunFolder | None
    reporter: RunReporter
    budget: Budget
    people: PeopleSetup


@value
class OpenedWorld:
    """A world, the part of it that runs stages, if there are any, and the lock of the processes of a run."""

    world: BudgetedWorld
    stages: StageWorld | None
    turns: CommandLock


@contextmanager
def open_world(setup: WorldSetup) -> Iterator[OpenedWorld]:
    """Make a world; nothing that it has started is left when this ends."""
    root = None if setup.folder is None else setup.folder.root
    with (
        closing(CommandLock(turns_of(setup.path))) as turns,
        open_stages(setup.folder, setup.program.plan, setup.reporter) as stages,
    ):
        scripted = ScriptedWorld(setup.scenario, LocalWorld(setup.permissions, turns, stages, root))
        with closing(ComposedWorld((scripted, *_list_others(setup), scripted))) as world:
            yield OpenedWorld(BudgetedWorld(world, setup.budget), stages, turns)


def make_closed_world() -> BudgetedWorld:
    """Return a world in which nothing happens."""
    return BudgetedWorld(ComposedWorld((ClosedStages(), ScriptedWorld(Scenario(), ClosedWorld()))), Budget())


def _list_others(setup: WorldSetup) -> Iterator[WorldPart]:
    yield from setup.others.list_parts(setup.program, name_of(setup.path), setup.permissions.variables)
    yield People(setup.program.plan, setup.people)
