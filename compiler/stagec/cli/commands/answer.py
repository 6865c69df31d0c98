"""`stagec answer`: answer a question of a run that another process executes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from stagec.cli.running import options


@click.command(short_help="Answer a question of a run.")
@options.run
@click.argument("words", nargs=-1, required=True, metavar="[KEY] yes|no", shell_complete=options.complete_answer)
@options.runs
@options.database
@click.pass_context
def answer(context: click.Context, run: str, words: tuple[str, ...], runs: Path, database: str | None) -> None:
    """Answer the question of RUN with this KEY; you can omit KEY if only one question waits.

    `stagec questions` lists the questions with their keys. The first answer counts, wherever it comes from.

    Exit status: 0 the answer counts, 1 another answer came first, 2 usage or environment, or no question waits, 4
    internal error.
    """
    from stagec.cli.running.steered_runs import give_answer, list_asked, send_locally

    if database is not None:
        from stagec.cli.databases import signals

        asked = partial(signals.list_asked, run, database)
        context.exit(give_answer(run, asked, partial(signals.send_answer, run, database), words))
    context.exit(give_answer(run, partial(list_asked, run, runs), send_locally(run, runs), words))
