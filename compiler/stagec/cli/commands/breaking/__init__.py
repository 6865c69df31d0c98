"""`stagec breaking`: what changes mean for runs in flight."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli import options


@click.command(short_help="List which changes break runs in flight.")
@click.argument("path", metavar="[PATH|PLAN]", default=".")
@click.option(
    "--against",
    required=True,
    metavar="REV|PLAN",
    help="The version with which runs in flight were started: a revision, plan or folder.",
)
@click.option("--flow", metavar="ID", help="Compare only the flow with this id.")
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="Treat changes with this code as compatible; repeatable.",
)
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def breaking(context: click.Context, /, **given: Any) -> None:
    """List which changes of the flows in PATH, by default the current folder, break runs in flight.

    A change is breaking if the new flow cannot continue some state of a run in flight, or if stagec cannot exclude
    that. It is additive if every run continues as before, and compatible otherwise. `REV` is PATH as it was in that
    revision of git, `REV:PATH` another path in it; `-` reads a plan from standard input.

    Exit status: 0 no breaking change, 1 a breaking change, 2 usage, environment, or a flow with errors, 3 no flow, 4
    internal error.
    """
    from stagec.cli.commands.breaking.run import BreakingRequest, run

    context.exit(run(BreakingRequest(**given)))
