"""`stagec run`: run a plan on this machine."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli.parameters import SectionedCommand
from stagec.cli.running import options
from stagec.cli.running.world_options import takes_world


@click.command(cls=SectionedCommand, short_help="Run a plan, and keep a journal of it.")
@options.plan
@click.option(
    "--run",
    "--run-id",
    "name",
    metavar="NAME",
    help="The name of the run; by default the plan's id and the time, for a stage plan 'run-' and the time.",
)
@click.option("--digest", metavar="DIGEST", help="Refuse PLAN unless this is its digest, 'sha256:' and 64 digits.")
@options.inputs
@options.entry
@options.runs
@takes_world
@click.pass_context
def run(context: click.Context, /, **given: Any) -> None:
    """Run PLAN, a file that 'stagec compile' has written, and keep every event in a journal.

    A scenario answers for models, tools and people; --world, --world-command and --model answer the other requests.
    Commands of the plan run in the current folder, unless one of these answers for them. `-` reads the plan from
    standard input. A plan that 'stagec verify' refuses does not run.

    The stages of a stage plan are processes in the folder of --project. They publish into 'reports/REPORT/RUN' there,
    with a checkpoint for each. Ctrl-C interrupts them; a second Ctrl-C ends them at once.

    `stagec resume` resumes an interrupted run.

    Exit status: 0 the run has ended as done, 1 as failed, 2 usage or environment or no answer,
    4 internal error, 130 interrupted or the provider is down (143 by SIGTERM).
    """
    from stagec.cli.running.start_request import StartRequest, start

    context.exit(start(StartRequest(**given)))
