"""The sources of a run's answers besides its scenario: worlds of the user, models and tools."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from stagec.cli.running.world_options import WorldOptions
from stagec.core.failure import Failure
from stagec.core.json import list_of, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.machine import Answered, Effect, Event, Program, StepResult
from stagec.runtime.machine.exchange import Ask, Call, Turn, whole_key
from stagec.runtime.world.budget import BudgetedWorld
from stagec.runtime.world.composed import PythonWorld, WorldPart
from stagec.runtime.world.models.port import add_usage, read_usage
from stagec.runtime.world.scenario import Scenario
from stagec.runtime.world.scripted_world import has_tool
from stagec.runtime.world.tools.files import FileTools
from stagec.runtime.world.tools.programs import (
    ProgramTools,
    ShellTool,
    ToolSetting,
    list_configured,
    list_planned,
    open_modules,
)
from stagec.runtime.world.tools.step_calls import MissingTools, UnknownTools
from stagec.runtime.world.tools.toolbox import Toolbox, ToolSource
from stagec.sources.project.settings import Settings

TYPE_CHECKING = False  # scenarios and programs ask no model: only runs that do load what asks them
if TYPE_CHECKING:
    from stagec.runtime.world.models.model_world import Onlooker
    from stagec.runtime.world.models.retries import PolicyEntries

_PROGRAMS = "the programs of this run"
_PLAIN = Settings()
"""The settings without a configuration."""


@value
class WorldSources:
    """A callable that makes a world, the command line of a program, and models; None where nobody names one.

    `models` are `PROVIDER:NAME` by `default`, by a name that plans use, or by `node:` and the id of a node. `tools_in`
    is where bundled tools are carried out. `servers` tells whether MCP servers start; None: if models answer.
    `modules` are Python modules whose functions are tools, `commands` the argument vectors of tools by name. `prices`
    is the table of what models cost, by default the bundled one. `policies` say how long to go on asking models: what
    options say precedes what is `configured`. `wait` are the seconds to wait for a provider that is down.
    """

    factory: str | None = None
    command: str | None = None
    models: Mapping[str, str] = NOTHING
    tools_in: Path | None = None
    servers: bool | None = None
    modules: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = NOTHING
    prices: Path | None = None
    policies: PolicyEntries = NOTHING
    configured: PolicyEntries = NOTHING
    wait: float | None = None

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts of the journal from which a later resume restores the world."""
        models = json.dumps(dict(self.models), sort_keys=True) if self.models else None
        folder = None if self.tools_in is None else os.path.abspath(self.tools_in)
        named = {"world": self.factory, "world-command": self.command, "models": models, "tools-in": folder}
        if self.servers is not None:
            named["servers"] = "yes" if self.servers else "no"
        if self.modules or self.commands:
            named["tools"] = json.dumps({"modules": self.modules, "commands": dict(self.commands)}, sort_keys=True)
        if self.prices is not None:
            named["prices"] = os.path.abspath(self.prices)
        if self.policies:
            named["model-policies"] = json.dumps(self.policies, sort_keys=True)
        return {name: each for name, each in named.items() if each is not None}

    def open_parts(
        self, program: Program, setting: ToolSetting, scenario: Scenario, onlooker: Onlooker | None = None
    ) -> tuple[WorldPart, ...]:
        """Return the parts of the world of a run; none of them is left open when one cannot be opened."""
        with ExitStack() as opened:
            toolbox = Toolbox(program.plan, self._open_tools(program.plan, setting), Redactor(os.environ))
            opened.callback(toolbox.close)
            parts: list[WorldPart] = []
            for each in self._open_others(program, setting.run, toolbox, onlooker):
                parts.append(each)
                opened.callback(each.close)
            opened.pop_all()
        named = sum(each is not None for each in (self.factory, self.command))

        def is_there(node: str, tool: str) -> bool:
            return named > 0 or toolbox.takes(Call("", tool, {})) or has_tool(scenario, node, tool)

        return (*parts[:named], toolbox, *parts[named:], UnknownTools(program.plan, is_there))

    def _open_others(
        self, program: Program, run: str, toolbox: Toolbox, onlooker: Onlooker | None
    ) -> Iterator[WorldPart]:
        if self.factory is not None:
            yield PythonWorld(self.factory, program)
        if self.command is not None:
            from stagec.runtime.world.program_world import Opening, ProgramWorld

            yield ProgramWorld(self._split_command(), Opening(run, program.plan, program.digest, toolbox))
        if self.models:
            from stagec.cli.running.assumptions import load_prices
            from stagec.cli.running.models import Retries, open_models
            from stagec.runtime.world.tools.step_calls import StepCalls

            prices, retries = load_prices(self.prices), Retries(_merge(self.configured, self.policies), self.wait)
            yield open_models(program.plan, self.models, StepCalls(toolbox), onlooker, prices, retries)
            yield MissingTools()

    def _open_tools(self, plan: Plan, setting: ToolSetting) -> Iterator[ToolSource]:
        """Yield the sources of tools; servers start last, so that they never stay alone."""
        redactor, here = (
            Redactor(os.environ),
            setting if self.tools_in is None else replace(setting, folder=os.path.abspath(self.tools_in)),
        )
        if self.modules:
            yield open_modules(self.modules, setting, redactor)
        if self.commands:
            yield ProgramTools(list_configured(self.commands), here, redactor)
        yield ProgramTools(list_planned(plan), here, redactor)
        if self.tools_in is not None:
            yield FileTools(self.tools_in, protection=setting.protection.extend(self._list_programs(plan), _PROGRAMS))
            yield ShellTool(here, redactor)
        if plan.servers and (self.servers or (self.servers is None and self.models)):
            from stagec.runtime.world.tools.mcp_tools import McpTools, ServerLimits  # brings an event loop along

            yield McpTools(plan, os.getcwd(), ServerLimits())

    def _list_programs(self, plan: Plan) -> Iterator[str]:
        """Yield the files and modules that are executed besides the bundled tools."""
        lines = [*self.commands.values(), *(each.command for each in plan.tools.values())]
        lines += [(each.command or "", *each.args) for each in plan.servers.values()]
        lines += [] if self.command is None else [self._split_command()]
        modules = [each.partition(":")[0].partition(".")[0] for each in (*self.modules, self.factory or "")]
        for folder in dict.fromkeys((os.getcwd(), os.path.abspath(self.tools_in or os.curdir))):
            words = (os.path.join(folder, word) for line in lines for word in line if word)
            yield from filter(_is_program, words)
            names = (os.path.join(folder, name) for each in modules if each for name in (each, f"{each}.py"))
            yield from filter(os.path.exists, names)

    def _split_command(self) -> tuple[str, ...]:
        """Return the words of a command line; no shell reads it."""
        try:
            words = tuple(shlex.split(self.command or ""))
        except ValueError as error:
            raise Failure(f"--world-command {quote(self.command or '')} is not a command line: {error}") from error
        if not words:
            raise Failure("--world-command names no program")
        return words


_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".jar")


def _is_program(path: str) -> bool:
    """Tell whether a word of a command line names a file that is executed, and not what it works on."""
    return "\0" not in path and os.path.isfile(path) and (path.endswith(_SCRIPTS) or os.access(path, os.X_OK))


def choose_worlds(options: WorldOptions, configured: Settings = _PLAIN, root: Path = Path()) -> WorldSources:
    """Return the sources of answers in the options and in the configuration of the project in `root`."""
    models: Mapping[str, str] = NOTHING
    if options.models or configured.models:
        from stagec.cli.running.models import read_models

        models = read_models(options.models, configured.models)
    named = (options.world, options.world_command, models, options.tools_in, options.servers)
    prices = options.prices
    if prices is None and "prices" in configured.cost:
        from stagec.cli.running.assumptions import find_configured

        prices = find_configured(configured.cost, root)
    policies: PolicyEntries = NOTHING
    if options.model_policies:
        from stagec.cli.running.models import read_policies

        policies = read_policies(options.model_policies)
    asking = (policies, configured.model_policies, options.wait)
    return WorldSources(*named, options.tool_modules, configured.tools, prices, *asking)


def _merge(first: PolicyEntries, second: PolicyEntries) -> PolicyEntries:
    """Return the settings of both; those of the second precede."""
    names = (*first, *second)
    return {whom: {**first.get(whom, NOTHING), **second.get(whom, NOTHING)} for whom in names}


def recall_worlds(given: WorldSources, facts: Mapping[str, str] = NOTHING) -> WorldSources:
    """Return the sources of answers: those that are named, and for the others those in the journal."""
    models = object_of(json.loads(facts["models"])) if "models" in facts else NOTHING
    known = {name: each for name, each in models.items() if isinstance(each, str)}
    folder = given.tools_in or (Path(facts["tools-in"]) if "tools-in" in facts else None)
    servers = facts["servers"] == "yes" if given.servers is None and "servers" in facts else given.servers
    modules, commands = _recall_tools(facts)
    policies = object_of(json.loads(facts.get("model-policies", "{}")))
    given = replace(
        given,
        tools_in=folder,
        servers=servers,
        modules=given.modules or modules,
        commands={**commands, **given.commands},
        prices=given.prices or (Path(facts["prices"]) if "prices" in facts else None),
        policies=_merge({whom: object_of(each) for whom, each in policies.items()}, given.policies),
    )
    if given.factory is not None or given.command is not None:
        return replace(given, models=given.models or known)
    return replace(
        given,
        factory=facts.get("world"),
        command=facts.get("world-command"),
        models={**known, **given.models},
    )


def _recall_tools(facts: Mapping[str, str]) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
    """Return the modules and the commands of tools that a journal remembers."""
    tools = object_of(json.loads(facts.get("tools", "{}")))
    modules = tuple(map(str, list_of(tools.get("modules"))))
    commands = {name: tuple(map(str, list_of(each))) for name, each in object_of(tools.get("commands")).items()}
    return modules, commands


class Memory:
    """Tells a world what it answered before this process began, as the events of a journal come by."""

    def __init__(self, world: BudgetedWorld) -> None:
        self._world = world
        self.parts = AnswerParts()
        world.be_recorded(self.parts)
        self._asked: dict[str, Effect] = {}

    def observe(self, event: Event, step: StepResult) -> None:
        """Take an event of a journal, and what followed from it."""
        if isinstance(event, Answered) and event.key in self._asked:
            self._world.recall(self._asked.pop(event.key), event.answer)
        lost = self.parts.observe(event)
        for key, part in lost:
            if key in self._asked:
                self._world.lose(self._asked[key], read_usage(part))
        whole = whole_key(event.key) if isinstance(event, Answered) else None
        for key in {*(key for key, _ in lost), *(() if whole is None else (whole,))} & self._asked.keys():
            self._world.recall_parts(self._asked[key], add_usage(map(read_usage, self.parts.list_parts(key))))
        self._asked |= {each.key: each for each in step.effects if isinstance(each, Ask | Turn)}
