"""Options of the commands about runs."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.core import ParameterSource

from stagec.cli.completions import choose_fitting, complete_entry
from stagec.cli.parameters import ExistingPath, FiniteRange, SectionOption

FOLDER = Path(".stagec/runs")
"""The default folder of runs."""


def words_for(path: Path) -> tuple[str, ...]:
    """Return the words that name the run in a file to other commands: its name, and the folder if it is another one."""
    return (path.stem,) if path.parent == FOLDER else (path.stem, "--runs", str(path.parent))


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


runs = click.option(
    "--runs",
    type=click.Path(path_type=Path),
    default=FOLDER,
    callback=_own_folder,
    show_default=True,
    metavar="DIR",
    help="The folder of the runs.",
)
scenario = click.option(
    "--scenario",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The answers of models, tools and people, in YAML or JSON; 'stagec schema scenario' prints its schema.",
)
command_timeout = click.option(
    "--command-timeout",
    cls=SectionOption,
    section="Tools, servers and commands",
    type=FiniteRange(min=0, max=1_000_000, min_open=True),
    default=600,
    show_default=True,
    metavar="SECONDS",
    envvar="STAGEC_COMMAND_TIMEOUT",
    show_envvar=True,
    help="The timeout of a validator, and of a call of a program that is a tool.",
)
DATABASE = "STAGEC_DATABASE"
"""The variable of the environment that names the database of runs."""


def _choose_database(context: click.Context, _argument: click.Parameter, url: str | None) -> str | None:
    """Return the database that is named; a folder or a file of a run on the command line wins over the environment."""
    is_named = context.get_parameter_source("database") is ParameterSource.COMMANDLINE
    folder = context.get_parameter_source("runs") if "runs" in context.params else None
    run = context.params.get("run")
    is_file = isinstance(run, str) and run.endswith(".run") and os.path.isfile(run)
    return url if is_named or not (is_file or folder is ParameterSource.COMMANDLINE) else None


database = click.option(
    "--database",
    callback=_choose_database,
    metavar="URL",
    envvar=DATABASE,
    show_envvar=True,
    help="The database of the runs: 'postgresql://USER@HOST/NAME' or 'sqlite:///FILE'.",
)
entry = click.option("--entry", metavar="ENTRY", shell_complete=complete_entry, help="The entry of the run.")
inputs = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE|@FILE",
    help="An input of the run, or a JSON file with inputs. A VALUE is text if the plan allows text, else JSON.",
)


def complete_run(context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Return the names of the runs that a shell may complete; what cannot be read completes nothing."""
    from stagec.cli.running.runs import Runs, name_of
    from stagec.core.failure import Failure

    try:
        return choose_fitting(map(name_of, Runs(context.params.get("runs") or FOLDER)), begun)
    except Failure:
        return []


def complete_answer(context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Return the keys of questions and the answers that a shell may complete."""
    from stagec.cli.running.runs import Runs
    from stagec.core.failure import Failure
    from stagec.runtime.drivers.local import JournalError
    from stagec.runtime.drivers.local.mailbox import list_waiting

    try:
        path = Runs(context.params.get("runs") or FOLDER).find(context.params["run"])
        keys = [] if context.params.get("words") else [each.question.key for each in list_waiting(path)]
    except (Failure, JournalError):
        keys = []
    return [*choose_fitting(keys, begun), *(each for each in ("yes", "no") if each.startswith(begun))]


run = click.argument("run", metavar="RUN", shell_complete=complete_run)
plan = click.argument("plan", metavar="PLAN", type=click.Path(path_type=Path, allow_dash=True))
prices = click.option(
    "--prices",
    cls=SectionOption,
    section="Models",
    type=ExistingPath(folder=False),
    metavar="FILE",
    help="The price table of models; by default that of the configuration, else the bundled one.",
)
