"""`stagec replay`: work a run out again from its journal."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli.running import options


@click.command(short_help="Work a run out again from its journal, and compare.")
@options.run
@options.runs
@click.pass_context
def replay(context: click.Context, run: str, runs: Path) -> None:
    """Work out from the journal of RUN, twice over, where it stands, and compare what follows from every event.

    Nothing is asked of the world. What is compared was written when each event happened: the digest of what was asked
    and told, and at times of the whole state.

    Exit status: 0 all is equal, 1 something differs, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.running.history import compare_replay

    context.exit(compare_replay(run, runs))
