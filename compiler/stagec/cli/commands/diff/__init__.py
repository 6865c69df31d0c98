"""`stagec diff`: what has changed between two versions of flows."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli import options
from stagec.cli.running.assumptions import models
from stagec.cli.running.options import prices


@click.command(short_help="List what has changed between two versions of flows.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", default=".")
@click.option("--flow", metavar="ID", help="Compare only the flow with this id.")
@prices
@models
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def diff(context: click.Context, /, **given: Any) -> None:
    """List what has changed in the meaning of flows from OLD to NEW, by default the current folder.

    OLD and NEW are each the file of a plan, a file or folder of a project, or a revision of git: `REV` is the other
    side (or the current folder) as it was in that revision, `REV:PATH` a path in it. `-` reads a plan from standard
    input. Flows are matched by name. Moved files and another layout are no change. Changed bounds of runs are listed
    too.

    Exit status: 0 nothing has changed, 1 something has, 2 usage, environment, or a flow with errors, 3 no flow,
    4 internal error.
    """
    from stagec.cli.commands.diff.run import DiffRequest, run

    context.exit(run(DiffRequest(**given)))
