"""The world of a run: the scenario, what `--world` and `--world-command` name, and this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from stagec.cli.result_cache import find_own_folder
from stagec.cli.running.budget_question import choose_extend
from stagec.cli.running.inputs import read_scenario, refuse_hooks
from stagec.cli.running.model_output import choose_model_output
from stagec.cli.running.options import DATABASE, words_for
from stagec.cli.running.people import People, choose_people
from stagec.cli.running.report import RunReporter
from stagec.cli.running.runs import name_of, turns_of
from stagec.cli.running.stage_reporter import choose_reporter
from stagec.cli.running.stages import choose_stages, find_folder, open_stages, refuse_silent_stages
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.world_sources import WorldSources
from stagec.cli.streams import say
from stagec.core.value import replace, value
from stagec.drivers.local.mailbox import Mailbox
from stagec.drivers.local.message_watcher import MessageWatcher
from stagec.drivers.local.seal import find_state_folder
from stagec.project.configuration import Configuration
from stagec.runtime import Program
from stagec.world.agents_world import AgentsWorld, ScriptedAgent
from stagec.world.budget import Budget, BudgetedWorld
from stagec.world.command_lock import CommandLock
from stagec.world.composed import ComposedWorld, WorldPart
from stagec.world.local_world import ClosedWorld, LocalWorld, Permissions
from stagec.world.scenario import Scenario
from stagec.world.scripted_world import ScriptedWorld
from stagec.world.stages.interrupted_stages import InterruptedStages
from stagec.world.tools.processes import ToolSetting
from stagec.world.tools.protected_places import RUNS, Protection

TYPE_CHECKING = False  # what executes stages is loaded where a run has some
if TYPE_CHECKING:
    from stagec.world.stages.run_folder import RunFolder
    from stagec.world.stages.stage_world import StageWorld


@value
class WorldSetup:
    """What a world is made of: the file of the run, its program, the options, the scenario, and who else answers.

    `folder` is the directory of a run of stages. The reporter hears of these while they run. Whoever is asked answers
    also by `mail`. Where there are no people, nothing but a policy answers for them.
    """

    path: Path
    program: Program
    options: WorldOptions
    scenario: Scenario
    others: WorldSources
    folder: RunFolder | None
    reporter: RunReporter
    mail: MessageWatcher
    protection: Protection
    has_people: bool = True

    @property
    def permissions(self) -> Permissions:
        """What the plan may do on this machine."""
        given = self.options
        words = choose_stages(given).words
        return Permissions(given.allow_hooks, given.pass_env, given.command_timeout, words)

    def list_others(self, turns: CommandLock, program: Program) -> Iterator[WorldPart]:
        """Yield who answers besides the scenario."""
        may = self.permissions
        setting = ToolSetting(os.getcwd(), name_of(self.path), may.variables, may.seconds, turns.hold)
        setting = replace(setting, protection=self.protection)
        output = choose_model_output(wish=self.options.stream, events=self.options.events)
        yield from self.others.open_parts(program, setting, self.scenario, output)
        people = choose_people(self.options.answers, self.options.answer_timeout, words_for(self.path))
        if self.has_people or people.is_policy:
            yield People(program.plan, people, self.mail)


def prepare_world(
    path: Path, program: Program, options: WorldOptions, others: WorldSources, protection: Protection
) -> WorldSetup:
    """Return what the world of a run is made of; raise `Failure` for a scenario or a plan that it is not fit for."""
    stages = choose_stages(options)
    scenario = read_scenario(options.scenario, program.plan)
    refuse_unfit_world(program, options, scenario)
    folder = find_folder(program.plan, name_of(path), stages)
    reporter = choose_reporter(program.plan, options.events, "" if folder is None else folder.log)
    return WorldSetup(path, program, options, scenario, others, folder, reporter, watch_mail(path), protection)


_FILES_OF_DATABASES = ("", "-wal", "-shm", "-journal")


def protect(
    runs: Path,
    options: WorldOptions,
    configuration: Configuration,
    named: Iterable[Path | None] = (),
    database: str | None = None,
) -> Protection:
    """Return what bundled tools may not use in a run: where stagec keeps what it must be able to trust.

    They may read what the run was begun or continued with (`named`), its configuration and the keys that it trusts, and
    may not change it.
    """
    state, cache = find_state_folder(), find_own_folder()
    hidden = {os.path.abspath(runs): RUNS, str(state): "the secrets of stagec"}
    if cache is not None:
        hidden[cache] = "the cache of stagec"
    scheme, _, file = os.environ.get(DATABASE, "").partition(":///")
    for each in filter(None, (database, file if scheme.startswith("sqlite") else None)):
        hidden |= {os.path.abspath(f"{each}{ending}"): "a database of runs" for ending in _FILES_OF_DATABASES}
    kept = [configuration.root / each for each in configuration.settings.trusted_keys]
    kept += [configuration.root / str(each) for name, each in configuration.settings.cost.items() if name == "prices"]
    kept += [] if configuration.file is None else [configuration.root / configuration.file]
    every = (*kept, *named, options.scenario, options.prices)
    return Protection(hidden, {os.path.abspath(each): "what the run is made of" for each in every if each is not None})


def refuse_unfit_world(program: Program, options: WorldOptions, scenario: Scenario) -> None:
    """Raise `Failure` for a plan that needs more than the options and the scenario give."""
    refuse_hooks(program, scenario, allowed=options.allow_hooks)
    refuse_silent_stages(program.plan, scenario, choose_stages(options).words)


def watch_mail(path: Path) -> MessageWatcher:
    """Return what watches the messages to a run, and says what is wrong with them."""
    return MessageWatcher(
        Mailbox(path),
        lambda sentence: say(f"stagec: note: {sentence}"),
        lambda sentence: say(f"stagec: error: {sentence}"),
    )


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
        local = LocalWorld(setup.permissions, turns, stages, root)
        with ExitStack() as opened:
            scripted = ScriptedWorld(setup.scenario, local)
            world = _open_composed(opened, setup, turns, setup.program, scripted)
            agents = {
                name: _open_composed(opened, setup, turns, program, ScriptedAgent(setup.scenario, name, local))
                for name, program in setup.program.agents.items()
            }
            whole = ComposedWorld((AgentsWorld(world, agents),)) if agents else world
            options = setup.options
            budget = Budget(options.max_tokens, options.max_cost, options.max_time)
            extend = choose_extend(choose_people(options.answers, options.answer_timeout))
            yield OpenedWorld(BudgetedWorld(whole, budget, extend), stages, turns)


def _open_composed(
    opened: ExitStack, setup: WorldSetup, turns: CommandLock, program: Program, scripted: WorldPart
) -> ComposedWorld:
    """Return the world of a run of one program, or of the runs of one agent; the stack closes it."""
    return opened.enter_context(closing(ComposedWorld((scripted, *setup.list_others(turns, program), scripted))))


def make_closed_world() -> BudgetedWorld:
    """Return a world in which nothing happens."""
    return BudgetedWorld(ComposedWorld((InterruptedStages(), ScriptedWorld(Scenario(), ClosedWorld()))), Budget())
