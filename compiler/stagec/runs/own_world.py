"""stagec's own models, tools, servers, grants and budgets as the world of a run in somebody's program."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from decimal import Decimal
from pathlib import Path

from stagec.cli.running.inputs import read_scenario, refuse_hooks
from stagec.cli.running.runs import turns_of
from stagec.cli.running.world_sources import WorldSources
from stagec.core.failure import Failure
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.runtime.drivers.local.mailbox import find_state_folder
from stagec.runtime.machine.program import Program
from stagec.runtime.world.budget import Budget, BudgetedWorld
from stagec.runtime.world.commands import CommandLock
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.local_world import LocalWorld, Permissions
from stagec.runtime.world.scripted_world import ScriptedWorld
from stagec.runtime.world.tools.files import RUNS, Protection
from stagec.runtime.world.tools.programs import ToolSetting


@value
class OwnWorld:
    """What stagec uses to answer the requests that the caller does not answer; the default starts nothing but commands.

    `models` are `PROVIDER:NAME` under `default`, a name that the plan uses, or `node:` and a node. `tools_in` is the
    folder in which bundled tools work, `modules` are Python modules whose functions are tools, `commands` the argument
    vectors of tools by name. `servers` says whether MCP servers start; None: if models answer. `scenario` is a file
    with answers. `calls` lets the Python callables of the plan be called. `variables` are those of the environment that
    commands see besides the usual ones, `seconds` is how long a command may take. `wait` are the seconds to wait for a
    provider of models that is down. The last three are bounds of a run.
    """

    models: Mapping[str, str] = NOTHING
    tools_in: Path | None = None
    modules: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = NOTHING
    servers: bool | None = None
    scenario: Path | None = None
    calls: bool = False
    variables: tuple[str, ...] = ()
    seconds: float = 600
    wait: float | None = None
    most_tokens: int | None = None
    most_cost: Decimal | None = None
    most_time: float | None = None


@contextmanager
def open_own_world(program: Program, run: str, journal: Path | None, given: OwnWorld) -> Iterator[BudgetedWorld]:
    """Make the world of a run; nothing that it has started is left when this ends.

    Where the run has a journal, no command begins before those of an earlier process are gone.
    """
    if program.agents:
        raise Failure(f"{quote(program.plan.id)} is the plan of an orchestrator: 'stagec run' executes these")
    scenario = read_scenario(given.scenario, program.plan)
    refuse_hooks(program, scenario, allowed=given.calls)
    sources = WorldSources(
        models=given.models,
        tools_in=given.tools_in,
        servers=given.servers,
        modules=given.modules,
        commands=given.commands,
        wait=given.wait,
    )
    hidden = {str(find_state_folder()): "the secrets of stagec"}
    if journal is not None:
        hidden[os.path.abspath(journal.parent)] = RUNS
    with nullcontext() if journal is None else closing(CommandLock(turns_of(journal))) as turns:
        setting = ToolSetting(os.getcwd(), run, given.variables, given.seconds, protection=Protection(hidden))
        setting = setting if turns is None else replace(setting, hold=turns.hold)
        local = LocalWorld(Permissions(given.calls, given.variables, given.seconds), turns)
        scripted = ScriptedWorld(scenario, local)
        parts = sources.open_parts(program, setting, scenario)
        with closing(ComposedWorld((scripted, *parts, scripted))) as world:
            yield BudgetedWorld(world, Budget(given.most_tokens, given.most_cost, given.most_time))
