"""The world of a run: the scenario, what `--world` and `--world-command` name, and this machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from stagec.cli.running.report import RunReporter
from stagec.cli.running.runs import name_of, turns_of
from stagec.cli.running.stages import open_stages
from stagec.core.failure import Failure
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.runtime import Program
from stagec.world.command_lock import CommandLock
from stagec.world.composed import ComposedWorld, PythonWorld, WorldPart
from stagec.world.local_world import LocalWorld, Permissions
from stagec.world.program_world import Opening, ProgramWorld
from stagec.world.scenario import Scenario
from stagec.world.scripted_world import ScriptedWorld
from stagec.world.stages.run_folder import RunFolder
from stagec.world.stages.stage_world import StageWorld


@value
class OtherWorlds:
    """Who answers besides the scenario: a callable that makes a world, and the command line of a program."""

    factory: str | None = None
    command: str | None = None

    @property
    def facts(self) -> Mapping[str, str]:
        """What the journal remembers, so that whoever resumes the run finds the same world."""
        named = {"world": self.factory, "world-command": self.command}
        return {name: each for name, each in named.items() if each is not None}


def recall_worlds(given: OtherWorlds, facts: Mapping[str, str] = NOTHING) -> OtherWorlds:
    """Return who answers: those that are named, else those that the journal remembers."""
    if given.factory is not None or given.command is not None:
        return given
    return OtherWorlds(facts.get("world"), facts.get("world-command"))


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


@value
class OpenedWorld:
    """A world, and the part of it that runs stages, if there are any."""

    world: ComposedWorld
    stages: StageWorld | None


@contextmanager
def open_world(setup: WorldSetup) -> Iterator[OpenedWorld]:
    """Make a world; nothing that it has started is left when this ends."""
    root = None if setup.folder is None else setup.folder.root
    with closing(CommandLock(turns_of(setup.path))) as turns:
        if setup.folder is not None:
            turns.hold()  # before anybody looks at what an earlier process has left
        with open_stages(setup.folder, setup.program.plan, setup.reporter) as stages:
            scripted = ScriptedWorld(setup.scenario, LocalWorld(setup.permissions, turns, stages, root))
            with closing(ComposedWorld((scripted, *_open_others(setup), scripted))) as world:
                yield OpenedWorld(world, stages)


def _open_others(setup: WorldSetup) -> Iterator[WorldPart]:
    """Yield the parts that the user names; a program starts last, so that it never stays alone."""
    if setup.others.factory is not None:
        yield PythonWorld(setup.others.factory, setup.program)
    if setup.others.command is not None:
        opening = Opening(name_of(setup.path), setup.program.plan, setup.program.digest)
        yield ProgramWorld(_split(setup.others.command), opening)


def _split(command: str) -> tuple[str, ...]:
    """Return the words of a command line; no shell reads it."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise Failure(f"--world-command {quote(command)} is no command line: {error}") from error
    if not words:
        raise Failure("--world-command names no program")
    return words
