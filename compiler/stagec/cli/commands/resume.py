"""`stagec resume`: resume a run that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli.running import options


@click.command(short_help="Resume a run that was interrupted.")
@options.run
@options.scenario
@options.world
@options.world_command
@click.option(
    "--plan",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PLAN",
    help="Resume only if the run is one of this plan.",
)
@options.runs
@options.events
@options.allow_hooks
@options.pass_env
@options.command_timeout
@click.pass_context
def resume(context: click.Context, /, **given: Any) -> None:
    """Resume RUN, the name of a run or its file, where it was interrupted.

    Requests without an answer are made again. The plan is in the journal. The scenario and the world are those with
    which the run started, unless you give others.

    Exit status: 0 the run has ended as done, 1 as failed, 2 usage or environment or no answer,
    4 internal error, 130 interrupted (143 by SIGTERM).
    """
    from stagec.cli.running.run_session import ResumeRequest, resume

    context.exit(resume(ResumeRequest(**given)))
