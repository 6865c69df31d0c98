"""`stagec questions`: what runs ask people."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options as general
from stagec.cli.running import options


@click.command(short_help="List the waiting questions of runs.")
@click.argument("run", required=False, shell_complete=options.complete_run)
@options.runs
@options.database
@general.output_format("text", "json", default="text")
def questions(run: str | None, runs: Path, output_format: str, database: str | None) -> None:
    """List the questions of RUN that wait for an answer, or of all runs.

    `stagec answer` answers them. If no process executes the run, the question is asked again when the run is resumed.
    An answer that you send before that waits.

    Exit status: 0 success, also without questions; 2 usage or environment, 4 internal error.
    """
    from stagec.cli.running.steered_runs import list_asked, list_questions

    if database is not None:
        from stagec.cli.databases import signals

        list_questions(signals.list_asked(run, database), output_format)
    else:
        list_questions(list_asked(run, runs), output_format)
