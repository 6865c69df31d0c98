"""Who answers the requests of a run besides its scenario: worlds of the user, and models."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.json import object_of
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.runtime import Answered, Effect, Event, Program, StepResult
from stagec.runtime.exchange import Ask, Turn
from stagec.world.budget import BudgetedWorld
from stagec.world.composed import PythonWorld, WorldPart
from stagec.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.world.models.port import Provider
from stagec.world.models.retries import RetryingProvider, RetryPolicy
from stagec.world.program_world import Opening, ProgramWorld
from stagec.world.tools.files import FileTools
from stagec.world.tools.mcp_tools import McpTools, ServerLimits
from stagec.world.tools.shell import ShellTool
from stagec.world.tools.toolbox import Toolbox, ToolSource


@value
class OtherWorlds:
    """A callable that makes a world, the command line of a program, and models; None where nobody names one.

    `models` are `PROVIDER:NAME` by `default`, by a name that plans use, or by `node:` and the id of a node. `tools_in`
    is where bundled tools are carried out. `servers` tells whether MCP servers start; None: if models answer.
    """

    factory: str | None = None
    command: str | None = None
    models: Mapping[str, str] = NOTHING
    tools_in: Path | None = None
    servers: bool | None = None

    @property
    def facts(self) -> Mapping[str, str]:
        """What the journal remembers, so that whoever resumes the run finds the same world."""
        models = json.dumps(dict(self.models), sort_keys=True) if self.models else None
        folder = None if self.tools_in is None else os.path.abspath(self.tools_in)
        named = {"world": self.factory, "world-command": self.command, "models": models, "tools-in": folder}
        if self.servers is not None:
            named["servers"] = "yes" if self.servers else "no"
        return {name: each for name, each in named.items() if each is not None}

    def list_parts(self, program: Program, run: str, variables: tuple[str, ...]) -> Iterator[WorldPart]:
        """Yield the parts of the world of a run."""
        if self.factory is not None:
            yield PythonWorld(self.factory, program)
        if self.command is not None:
            yield ProgramWorld(_split(self.command), Opening(run, program.plan, program.digest))
        toolbox = Toolbox(program.plan, self._open_tools(program.plan, variables), Redactor(os.environ))
        yield toolbox
        if self.models:
            yield _open_models(program.plan, self.models, toolbox)

    def _open_tools(self, plan: Plan, variables: tuple[str, ...]) -> Iterator[ToolSource]:
        """Yield who has tools; servers start last, so that they never stay alone."""
        if self.tools_in is not None:
            yield FileTools(self.tools_in)
            yield ShellTool(self.tools_in, variables, Redactor(os.environ))
        if plan.servers and (self.servers or (self.servers is None and self.models)):
            yield McpTools(plan, os.getcwd(), ServerLimits())


def recall_worlds(given: OtherWorlds, facts: Mapping[str, str] = NOTHING) -> OtherWorlds:
    """Return who answers: what is named, and in place of what is not what the journal remembers."""
    models = object_of(json.loads(facts["models"])) if "models" in facts else NOTHING
    known = {name: each for name, each in models.items() if isinstance(each, str)}
    folder = given.tools_in or (Path(facts["tools-in"]) if "tools-in" in facts else None)
    servers = facts["servers"] == "yes" if given.servers is None and "servers" in facts else given.servers
    if given.factory is not None or given.command is not None:
        return replace(given, models=given.models or known, tools_in=folder, servers=servers)
    return OtherWorlds(facts.get("world"), facts.get("world-command"), {**known, **given.models}, folder, servers)


DEFAULT, NODE = "default", "node:"
"""What the model is called that answers where no other one does, and what comes before the id of a node."""


def read_models(given: Iterable[str], configured: Mapping[str, str] = NOTHING) -> Mapping[str, str]:
    """Return the models of a configuration and of the options `PROVIDER:NAME` and `KEY=PROVIDER:NAME`, which win."""
    models = dict(configured)
    for each in given:
        key, equals, model = each.rpartition("=")
        if not model.partition(":")[2]:
            raise Failure(f"--model {quote(each)} names no model: write PROVIDER:NAME, such as 'openai:gpt-5.4'")
        models[key if equals else DEFAULT] = model
    return models


def _open_models(plan: Plan, models: Mapping[str, str], toolbox: Toolbox) -> ModelWorld:
    from stagec.world.models.pydantic_provider import PydanticProvider

    nodes = {name.removeprefix(NODE): each for name, each in models.items() if name.startswith(NODE)}
    choice = ModelChoice(models.get(DEFAULT), models, nodes)
    provider = RetryingProvider(PydanticProvider(), RetryPolicy())
    _refuse_loose_models(plan, choice, provider)
    return ModelWorld(plan, ModelSetup(provider, choice, toolbox))


def _refuse_loose_models(plan: Plan, choice: ModelChoice, provider: Provider) -> None:
    """Refuse a model for a conversation that has no strict tool calls: it can never hand in a result."""
    talking = (name for name, node in plan.nodes.items() if isinstance(node.act, Converse))
    for name in talking:
        model = choice.choose(name)
        if model is not None and not provider.supports_tools(model):
            provider.close()
            raise Failure(f"{quote(model)} has no strict tool calls, which {plan.names.node} {quote(name)} needs")


def _split(command: str) -> tuple[str, ...]:
    """Return the words of a command line; no shell reads it."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise Failure(f"--world-command {quote(command)} is no command line: {error}") from error
    if not words:
        raise Failure("--world-command names no program")
    return words


class Memory:
    """Tells a world what it answered before this process began, as the events of a journal come by."""

    def __init__(self, world: BudgetedWorld) -> None:
        self._world = world
        self._asked: dict[str, Effect] = {}

    def observe(self, event: Event, step: StepResult) -> None:
        """Take an event of a journal, and what followed from it."""
        if isinstance(event, Answered) and event.key in self._asked:
            self._world.recall(self._asked.pop(event.key), event.answer)
        self._asked |= {each.key: each for each in step.effects if isinstance(each, Ask | Turn)}
