"""`stagec runs`: list, show and export stored runs."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options as general
from stagec.cli.running import options


def _list(runs: Path, output_format: str) -> None:
    """List the stored runs: whether each has ended or can be resumed, and how far it has come."""
    from stagec.cli.running.history import list_runs

    list_runs(runs, output_format)


def _show(run: str, runs: Path) -> None:
    """Print what has happened in RUN, event by event: who was asked for what, the answer, and where it led."""
    from stagec.cli.running.history import show_history

    show_history(run, runs)


def _export(run: str, runs: Path) -> None:
    """Print RUN as JSON: the digest of its plan, and every event with its answer.

    The output cannot be resumed. To copy a run, copy its one file, .stagec/runs/RUN.run, at any moment.
    """
    from stagec.cli.running.history import export_run

    export_run(run, runs)


def _commands() -> list[click.Command]:
    """Make the subcommands; a module of the shelf names one command only."""
    formats = general.output_format("text", "json", default="text")
    return [
        click.command("list", short_help="List the stored runs.")(options.runs(formats(_list))),
        click.command("show", short_help="Print what has happened in a run.")(options.run(options.runs(_show))),
        click.command("export", short_help="Print a run as JSON.")(options.run(options.runs(_export))),
    ]


COMMAND = click.Group(
    "runs",
    commands=_commands(),
    help="List, show and export stored runs.",
    short_help="List, show and export runs.",
)
