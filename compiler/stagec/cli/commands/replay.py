"""`stagec replay`: compute a run again from its journal."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli.running import options


@click.command(short_help="Compute a run again from its journal, and compare.")
@options.run
@options.runs
@options.database
@click.pass_context
def replay(context: click.Context, run: str, runs: Path, database: str | None) -> None:
    """Compute the states of RUN from its journal, twice, and compare the results of every event.

    `replay` asks no model, calls no tool and runs no command. For every event, the journal has the digest of the
    requests and trace events that followed, and sometimes of the whole state. `replay` compares these digests.

    Exit status: 0 equal, 1 different, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.databases.run_sources import read_named
    from stagec.cli.running.history import compare_replay

    context.exit(compare_replay(*read_named(run, runs, database)))
