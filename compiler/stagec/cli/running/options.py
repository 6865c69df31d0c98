"""Options of the commands about runs."""

from __future__ import annotations

import os
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click
from click.core import ParameterSource

FOLDER = Path(".stagec/runs")
"""Where runs are kept unless somebody says otherwise."""


def _own_folder(context: click.Context, argument: click.Parameter, folder: Path) -> Path:
    """Refuse the default folder where it leads elsewhere: whoever wrote the project may have put a link there."""
    from stagec.core.disk import leads_out
    from stagec.core.failure import Failure

    is_named = context.get_parameter_source(argument.name or "") is not ParameterSource.DEFAULT
    if not is_named and leads_out(os.curdir, folder):
        raise Failure(
            f"'{folder}' is reached through a link that leads out of this folder; --runs names where it leads"
        )
    return folder


def _read_dollars(_context: click.Context, argument: click.Parameter, text: str | None) -> Decimal | None:
    """Return an amount of money, exact to the last digit; refuse what is no number above zero."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise click.BadParameter(f"'{text}' is no amount above zero", param=argument)
    return amount


runs = click.option(
    "--runs",
    type=click.Path(path_type=Path),
    default=FOLDER,
    callback=_own_folder,
    show_default=True,
    metavar="DIR",
    help="The folder in which runs are kept.",
)
scenario = click.option(
    "--scenario",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The answers of models, tools and people, in YAML or JSON; 'stagec schema scenario' prints its schema.",
)
world = click.option(
    "--world",
    metavar="MODULE:FACTORY",
    help="A Python callable that makes the object which answers requests: it is given the program, and is trusted.",
)
world_command = click.option(
    "--world-command",
    metavar="'PROGRAM …'",
    help="A program that answers requests: JSON lines, as docs/world-protocol.md says. It is trusted.",
)
model = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[KEY=]PROVIDER:NAME",
    envvar="STAGEC_MODEL",
    show_envvar=True,
    help="The model that answers, or that answers for a name which the plan uses, or for 'node:' and a node.",
)
max_tokens = click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop when models have used so many tokens, in and out together.",
)
max_cost = click.option(
    "--max-cost",
    callback=_read_dollars,
    metavar="DOLLARS",
    help="Stop when models have cost so much, as far as prices are known.",
)
max_time = click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Ask no model any more after this time.",
)
answers = click.option(
    "--answers",
    type=click.Choice(["ask", "allow", "deny"]),
    default=None,
    help="Who answers for people: the terminal, or yes or no to everything. By default the terminal, else no.",
)
answer_timeout = click.option(
    "--answer-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="The time in which a question must be answered; after it the answer is no.",
)
tools_in = click.option(
    "--tools-in",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Carry out the bundled tools (Read, Write, Edit, Glob, Grep, Bash) in this folder, as far as the plan allows.",
)
servers = click.option(
    "--servers/--no-servers",
    default=None,
    help="Start the MCP servers of the plan, or do not. By default they start if a model answers.",
)
events = click.option(
    "--events", type=click.Choice(["jsonl"]), help="Print every event as a line of JSON, and nothing else."
)
allow_hooks = click.option(
    "--allow-hooks", is_flag=True, help="Import the Python callables that the plan names, and call them."
)
pass_env = click.option(
    "--pass-env",
    multiple=True,
    metavar="NAME",
    envvar="STAGEC_PASS_ENV",
    show_envvar=True,
    help="A variable of the environment that commands of the plan may see, besides PATH, HOME and the like.",
)
command_timeout = click.option(
    "--command-timeout",
    type=click.FloatRange(min=0, max=1_000_000, min_open=True),
    default=600,
    show_default=True,
    metavar="SECONDS",
    envvar="STAGEC_COMMAND_TIMEOUT",
    show_envvar=True,
    help="The time limit of a validator.",
)
project = click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder in which stages run and publish; by default the current one, of a run that is resumed its own.",
)
executor = click.option(
    "--executor",
    metavar="'PROGRAM …'",
    help="A program that carries out the stages that have no 'run': it is told of each by STAGEC_ variables.",
)
max_parallel = click.option(
    "--max-parallel",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let fewer stages run at the same time than the plan allows.",
)
entry = click.option("--entry", metavar="ENTRY", help="The entry at which the run begins.")
inputs = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE|@FILE",
    help="An input of the run, or a JSON file with inputs. A VALUE is text where the plan allows text, else JSON.",
)


def _names(context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Return the names of the runs that a shell may complete; what cannot be read completes nothing."""
    from stagec.cli.running.runs import Runs, name_of
    from stagec.core.failure import Failure

    try:
        return [name for name in map(name_of, Runs(context.params.get("runs") or FOLDER)) if name.startswith(begun)]
    except Failure:
        return []


run = click.argument("run", metavar="RUN", shell_complete=_names)
plan = click.argument("plan", metavar="PLAN", type=click.Path(path_type=Path, allow_dash=True))
