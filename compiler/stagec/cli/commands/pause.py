"""`stagec pause`: let who executes a run stop, so that the run can be resumed."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli.running import options


@click.command(short_help="Interrupt a run that another process executes.")
@options.run
@options.runs
@options.database
def pause(run: str, runs: Path, database: str | None) -> None:
    """Ask the process that executes RUN to stop, as Ctrl-C does; `stagec resume` continues it.

    The process stops the open requests; `stagec resume` makes them again.

    Exit status: 0 the process will stop, 2 usage or environment, or no process executes the run, 4 internal error.
    """
    from stagec.cli.running.runs import Runs, name_of
    from stagec.cli.running.steered_runs import ask_to_end
    from stagec.core.failure import Failure
    from stagec.core.words import quote
    from stagec.drivers.messages import MessageKind

    if database is not None:
        from stagec.cli.databases import signals

        signals.ask_to_end(run, database, MessageKind.PAUSE)
        return
    path = Runs(runs).find(run)
    if not ask_to_end(path, MessageKind.PAUSE):
        raise Failure(f"no process executes run {quote(name_of(path))}: there is nothing to pause")
