"""The options of the world of a run, the same for every command that executes runs."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from stagec.cli.parameters import Duration, ExistingPath, FiniteRange, OneOf, SectionOption
from stagec.cli.running.options import command_timeout, prices, scenario
from stagec.core.value import value


@value
class WorldOptions:
    """The world of a run as its options name it, one field for each; None where one is absent."""

    scenario: Path | None = None
    models: tuple[str, ...] = ()
    model_policies: tuple[str, ...] = ()
    wait: float | None = None
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    max_time: float | None = None
    prices: Path | None = None
    tools_in: Path | None = None
    tool_modules: tuple[str, ...] = ()
    servers: bool | None = None
    answers: str | None = None
    answer_timeout: float | None = None
    world: str | None = None
    world_command: str | None = None
    events: str | None = None
    stream: bool | None = None
    allow_hooks: bool = False
    pass_env: tuple[str, ...] = ()
    command_timeout: float = 600
    project: Path | None = None
    executor: str | None = None
    max_parallel: int | None = None
    telemetry: bool = False
    telemetry_messages: bool = False


def takes_world(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the world of a run; it is called with one argument for them, `world`."""

    @wraps(command)
    def call(*given: Any, **options: Any) -> None:
        named = {name: options.pop(name) for name in _FIELDS}
        command(*given, world=WorldOptions(**named), **options)

    for option in reversed(_OPTIONS):
        option(call)
    return call


_FIELDS: tuple[str, ...] = WorldOptions.__match_args__


def _read_dollars(_context: click.Context, argument: click.Parameter, text: str | None) -> Decimal | None:
    """Return an amount of money, exact to the last digit; refuse what is no number above zero."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise click.BadParameter(f"'{text}' is not an amount above zero", param=argument)
    return amount


_models = partial(click.option, cls=SectionOption, section="Models")
_tools = partial(click.option, cls=SectionOption, section="Tools, servers and commands")
_people = partial(click.option, cls=SectionOption, section="People")
_own_world = partial(click.option, cls=SectionOption, section="A world of your own")
_stages = partial(click.option, cls=SectionOption, section="Stage plans")
_output = partial(click.option, cls=SectionOption, section="Output")
_OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="[KEY=]PROVIDER:NAME",
        envvar="STAGEC_MODEL",
        show_envvar=True,
        help="The model for all requests, for a name in the plan, or for 'node:' and a node.",
    ),
    scenario,
    click.option(
        "--tools-in",
        type=ExistingPath(file=False),
        metavar="DIR",
        help="Execute the bundled tools (Read, Write, Edit, Glob, Grep, Bash) in this folder, if the plan allows them.",
    ),
    click.option(
        "--tools",
        "tool_modules",
        multiple=True,
        metavar="MODULE",
        help="A trusted Python module whose functions are tools, if the plan allows them.",
    ),
    click.option(
        "--answers",
        type=OneOf(["ask", "wait", "allow", "deny"]),
        default=None,
        help="Who answers questions: the terminal or 'stagec runs answer' (ask), only 'stagec runs answer' (wait), or"
        " always yes (allow) or no (deny). By default the terminal, else no.",
    ),
    click.option(
        "--max-cost",
        callback=_read_dollars,
        metavar="DOLLARS",
        help="Stop when models have cost this much, by the price table.",
    ),
    _models(
        "--model-policy",
        "model_policies",
        multiple=True,
        metavar="[WHOM.]SETTING=VALUE",
        help="How long to go on asking models that do not answer, such as 'openai.attempts=8': a setting of"
        " [model-policies] of the configuration, for all, a provider, a model, or 'node:' and a node.",
    ),
    _models(
        "--wait",
        type=Duration(),
        metavar="DURATION",
        help="Wait for a provider that is down, for at most this time, such as 90s, 5m or 2h. By default the run is"
        " interrupted.",
    ),
    _models(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop when models have used this many tokens, input and output together.",
    ),
    _models(
        "--max-time",
        type=FiniteRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Stop asking models after this time; a request that is under way is cancelled.",
    ),
    prices,
    _tools(
        "--servers/--no-servers",
        default=None,
        help="Whether to start the MCP servers of the plan. By default they start if a model answers.",
    ),
    _tools("--allow-hooks", is_flag=True, help="Import the Python callables that the plan names, and call them."),
    _tools(
        "--pass-env",
        multiple=True,
        metavar="NAME",
        envvar="STAGEC_PASS_ENV",
        show_envvar=True,
        help="An environment variable for commands of the plan, in addition to PATH, HOME and similar ones.",
    ),
    command_timeout,
    _people(
        "--answer-timeout",
        type=FiniteRange(min=0, min_open=True),
        metavar="SECONDS",
        help="The timeout of a question; after it the answer is no.",
    ),
    _own_world(
        "--world",
        metavar="MODULE:FACTORY",
        help="A trusted Python callable that gets the program and returns the object that answers requests.",
    ),
    _own_world(
        "--world-command",
        metavar="'PROGRAM …'",
        help="A trusted program that answers requests by JSON lines: see docs/world-protocol.md.",
    ),
    _stages(
        "--project",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The folder in which stages run and publish; by default the current one, or that of the resumed run.",
    ),
    _stages(
        "--executor",
        metavar="'PROGRAM …'",
        help="A program that executes the stages without 'run'; it gets the STAGEC_ variables of the stage.",
    ),
    _stages(
        "--max-parallel",
        type=click.IntRange(min=1),
        metavar="N",
        help="The most stages at the same time; not more than the plan allows.",
    ),
    _output("--events", type=OneOf(["jsonl"]), help="Print every event as a line of JSON, and nothing else."),
    _output(
        "--stream/--no-stream",
        default=None,
        help="Show the output of models on standard error while they write. By default on a terminal.",
    ),
    _output(
        "--telemetry",
        is_flag=True,
        help="Send spans and metrics to an OpenTelemetry collector, by default http://localhost:4318; the variables"
        " OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_TRACES_EXPORTER=otlp do the same.",
    ),
    _output(
        "--telemetry-messages",
        is_flag=True,
        help="Also send the inputs and answers of models and tools.",
    ),
)
"""In the order of the help; each is a field of `WorldOptions`, and whoever adds one adds its field."""
