"""`stagec schedules`: list, pause, resume and remove the schedules of a database."""

from __future__ import annotations

import click

from stagec.cli import options as general
from stagec.cli.parameters import Group
from stagec.cli.running import options

COMMAND = Group(
    "schedules",
    help="List, pause, resume and remove schedules, which `stagec submit --every` declares.",
    short_help="List, pause, resume and remove schedules of runs.",
)
_name = click.argument("name", metavar="NAME")


@COMMAND.subcommand("list", "List the schedules.")
@options.database
@general.output_format("text", "json", default="text")
def _list(database: str | None, output_format: str) -> None:
    """List the schedules: their times, whether they are paused, the next time, and the last run."""
    from stagec.cli.databases.schedules import list_schedules

    list_schedules(database, output_format)


@COMMAND.subcommand("pause", "Start no more runs.")
@_name
@options.database
def _pause(name: str, database: str | None) -> None:
    """Start no more runs of the schedule NAME until it is resumed. Runs that have started go on."""
    from stagec.cli.databases.schedules import pause

    pause(database, name)


@COMMAND.subcommand("resume", "Start runs again.")
@_name
@options.database
def _resume(name: str, database: str | None) -> None:
    """Start runs of the schedule NAME again; its --catch-up says what to do about the times in between."""
    from stagec.cli.databases.schedules import resume

    resume(database, name)


@COMMAND.subcommand("remove", "Remove a schedule.")
@_name
@options.database
def _remove(name: str, database: str | None) -> None:
    """Remove the schedule NAME. Its runs stay."""
    from stagec.cli.databases.schedules import remove

    remove(database, name)
