"""`stagec review`: everything that a reviewer has to know of a change, on one page or in one comment."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli import options
from stagec.cli.running.assumptions import models
from stagec.cli.running.options import prices


@click.command(short_help="Review a change: what it changes, breaks, costs and gets wrong.")
@click.argument("path", metavar="[PATH|PLAN]", default=".")
@click.option("--against", required=True, metavar="REV|PLAN", help="What was before: a revision, plan or folder.")
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
    help="Let breaking changes of this code count as compatible; may be given several times.",
)
@prices
@models
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def review(context: click.Context, /, **given: Any) -> None:
    """Review what has changed in the flows of PATH, by default the current folder.

    The verdict comes first: whether changes break runs in flight, and whether errors are new. Then come the changes of
    each flow, the changes of its bounds, and the findings, new ones first. `markdown`
    is one comment for a pull request, with a drawing of each flow, and short enough for GitHub.

    Exit status: 0 nothing breaks and no error is new, 1 something breaks, an error is new, or errors prevent the
    comparison, 2 usage or
    environment, 3 no flow, 4 internal error.
    """
    from stagec.cli.commands.review.run import ReviewRequest, run

    context.exit(run(ReviewRequest(**given)))
