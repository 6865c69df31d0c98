"""`stagec review`: everything that a reviewer has to know of a change, on one page or in one comment."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli import options
from stagec.cli.running.assumptions import models
from stagec.cli.running.options import prices


@click.command(short_help="Review a change: breaking changes, cost and findings.")
@click.argument("path", metavar="[PATH|PLAN]", default=".")
@click.option("--against", required=True, metavar="REV|PLAN", help="The older version: a revision, plan or folder.")
@click.option(
    "--merge-base",
    is_flag=True,
    help="Compare with the merge base of HEAD and the revision.",
)
@click.option("--flow", metavar="ID", help="Review only the flow with this id.")
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="Treat breaking changes with this code as compatible; repeatable.",
)
@prices
@models
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def review(context: click.Context, /, **given: Any) -> None:
    """Review the changes of the flows in PATH, by default the current folder.

    The verdict comes first: whether changes break runs in flight, and whether errors are new. Then come the changes of
    each flow, the changes of its bounds, and the findings, new ones first. `markdown`
    is one comment for a pull request, with a drawing of each flow, and short enough for GitHub.

    Exit status: 0 no breaking change and no new error, 1 a breaking change, a new error, or errors that prevent the
    comparison, 2 usage or environment, 3 no flow, 4 internal error.
    """
    from stagec.cli.commands.review.run import ReviewRequest, run

    context.exit(run(ReviewRequest(**given)))
