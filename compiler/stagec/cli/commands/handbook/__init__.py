"""`stagec handbook`: a site about the flows of a project for people who do not read JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


@click.command(short_help="Write a site that explains the flows of a project.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("handbook"),
    show_default=True,
    help="The folder of the site; older pages in it are replaced.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 if a page is missing or out of date.")
@click.pass_context
def handbook(context: click.Context, /, **given: Any) -> None:
    """Write a static site about the flows of the agents and pipelines in PATHS, or in the configured roots.

    The site has a page for the project and one for each flow: its picture, its steps with their prompts, answers, tools
    and permissions, the bounds of a run, the cover of its flow tests, and the findings of `stagec validate`. The pages
    need no server and no network, run no script, and are the same bytes for the same sources.

    Exit status: 0 written, 1 out of date (--check), 2 usage or environment, 3 no flow, 4 internal error.
    """
    from stagec.cli.commands.handbook.run import HandbookRequest, run

    context.exit(run(HandbookRequest(**given)))
