"""`stagec validate`: what is wrong with the files of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec import reporters
from stagec.cli import options
from stagec.core.diagnostic import Severity
from stagec.core.shelf import names


@click.command(short_help="Check a project and report every mistake with its location.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@options.root
@options.select
@options.extend_select
@options.ignore
@options.output_format(*names(reporters), default=None)
@click.option(
    "--fail-on",
    type=click.Choice([*(each.value for each in Severity), "never"]),
    help="Exit with 1 from this severity on [error].",
)
@click.option(
    "--strict", is_flag=True, help="Report as errors what the specification of a format forbids and stagec tolerates."
)
@click.option("--fix", is_flag=True, help="Apply the fixes that are certain, then report what remains.")
@click.option(
    "--diff", is_flag=True, help="Print what --fix would change, and change nothing; exit with 1 if anything."
)
@click.option("--statistics", is_flag=True, help="Also count the findings of every rule.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("--stdin-filename", metavar="NAME", help="The file that the text read from `-` stands for.")
@click.option("--no-cache", is_flag=True, help="Accepted, and without effect: nothing is cached yet.")
@click.pass_context
def validate(context: click.Context, /, **given: Any) -> None:
    """Check the agents, stages, pipelines and tools in PATHS, or in the configured roots.

    PATHS are folders and files. `-` reads one file from standard input; its neighbours are read from disk.

    Exit status: 0 nothing wrong, 1 findings at or above --fail-on, 2 usage or environment, 3 nothing to check,
    4 internal error.
    """
    from stagec.cli.commands.validate.run import ValidateRequest, run

    context.exit(run(ValidateRequest(**given)))
