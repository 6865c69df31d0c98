"""`stagec cancel`: end a run so that it cannot be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stagec.cli.running import options

if TYPE_CHECKING:
    from stagec.drivers.local import Journal


@click.command(short_help="End a run so that it cannot be resumed.")
@options.run
@options.runs
@options.database
def cancel(run: str, runs: Path, database: str | None) -> None:
    """Cancel RUN, the name of a run or its file: it ends as failed and cannot be resumed.

    If another process executes the run, stagec asks it to end; that process ends its programs first.

    Exit status: 0 the run is cancelled, or will end; 2 usage or environment, or the run has already ended; 4 internal
    error.
    """
    from contextlib import closing

    from stagec.cli.running.runs import Runs, open_run
    from stagec.cli.running.steered_runs import ask_to_end
    from stagec.drivers.messages import MessageKind

    if database is not None:
        from stagec.cli.databases import signals

        signals.ask_to_end(run, database, MessageKind.CANCEL)
        return
    path = Runs(runs).find(run)
    if ask_to_end(path, MessageKind.CANCEL):
        return
    with closing(open_run(path)) as journal:
        _cancel(path, journal)


def _cancel(path: Path, journal: Journal) -> None:
    from stagec.cli.running.inputs import load_program
    from stagec.cli.running.run_session import RunSetup, execute
    from stagec.cli.running.runs import name_of
    from stagec.cli.running.stages import choose_reporter
    from stagec.cli.running.worlds import make_closed_world, watch_mail
    from stagec.core.failure import Failure
    from stagec.core.words import quote
    from stagec.drivers.replay import fold_run
    from stagec.runtime import Cancelled

    name = quote(name_of(path))
    begun = load_program(journal.history.plan, f"the plan of run {name}")
    program, state = fold_run(begun, journal.history.events)
    if state.ended is not None:
        raise Failure(f"run {name} has ended as {state.ended}: there is nothing to cancel")
    reporter = choose_reporter(program.plan, None)
    execute(RunSetup(path, journal, program, make_closed_world(), reporter, watch_mail(path)), Cancelled())
