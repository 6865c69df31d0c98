"""`stagec bounds`: how much runs take at most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.running.options import command_timeout


@click.command(short_help="Print the longest run of each flow in steps, turns and time.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@click.option(
    "--turn",
    type=click.FloatRange(min=0, max=1_000_000, min_open=True),
    metavar="SECONDS",
    help="Assume this limit for a turn of a model with its tool calls; a plan has none.",
)
@command_timeout
@options.output_format("text", "json", default="text")
@click.pass_context
def bounds(context: click.Context, /, **given: Any) -> None:
    """Print how much a run of each flow in PATHS, or of each PLAN, takes at most, or why there is no bound.

    The numbers are steps (executions of nodes), turns of models, and time, each with and without retries, and the
    longest way by the names of its nodes. `-` reads a plan from standard input.

    Exit status: 0 each flow has a bound, 1 some flow has none or has errors, 2 usage or environment,
    3 no flow, 4 internal error.
    """
    from stagec.cli.commands.bounds.run import BoundsRequest, run

    context.exit(run(BoundsRequest(**given)))
