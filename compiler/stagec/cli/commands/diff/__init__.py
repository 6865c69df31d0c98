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

    OLD and NEW are each the file of a plan, a file or folder of a project, or a git revision: `REV` is the other side
    (or the current folder) in that revision, `REV:PATH` a path in it. `-` reads a plan from standard input. stagec
    matches flows by name. It ignores moved files and layout. It also lists changed bounds of runs.

    Exit status: 0 no changes, 1 changes, 2 usage, environment, or a flow with errors, 3 no flow, 4 internal error.
    """
    from stagec.cli.commands.diff.run import DiffRequest, run

    context.exit(run(DiffRequest(**given)))
