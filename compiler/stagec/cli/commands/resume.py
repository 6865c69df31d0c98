"""`stagec resume`: resume a run that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli.running import options


@click.command(short_help="Resume a run that was interrupted.")
@options.run
@options.scenario
@options.model
@options.max_tokens
@options.max_cost
@options.max_time
@options.tools_in
@options.servers
@options.answers
@options.answer_timeout
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
@options.project
@options.executor
@options.max_parallel
@click.option(
    "--consent",
    multiple=True,
    metavar="STAGE",
    help="Let a stage run again that is not retryable and has begun; may be given several times.",
)
@click.option(
    "--trust",
    type=click.Choice(["imported", "untrusted"]),
    default="imported",
    show_default=True,
    help="The least trusted checkpoints that count; those of an untrusted source do only if you say so.",
)
@click.pass_context
def resume(context: click.Context, /, **given: Any) -> None:
    """Resume RUN, the name of a run or its file, where it was interrupted.

    Requests without an answer are made again. The plan is in the journal. The scenario and the world are those with
    which the run started, unless you give others.

    A stage plan goes on from its checkpoints, also when the run has ended as failed or interrupted: what stages have
    published is verified first, and every stage whose results are not there, or not what was recorded, runs again.

    Exit status: 0 the run has ended as done, 1 as failed, 2 usage or environment or no answer,
    4 internal error, 130 interrupted (143 by SIGTERM).
    """
    from stagec.cli.running.resume_request import ResumeRequest, resume

    context.exit(resume(ResumeRequest(**given)))
