"""`stagec markers`: what is wrong with the markers in a log, while it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec import reporters
from stagec.cli import options
from stagec.cli.parameters import OneOf
from stagec.core.diagnostic import Severity
from stagec.core.shelf import names


@click.command(short_help="Check the markers in a log or a pipe.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--stage", metavar="ID", help="The stage that writes the log: markers of other stages are errors.")
@click.option("--list", "lists", is_flag=True, help="Print every marker as a line of JSON, and check nothing.")
@options.select
@options.extend_select
@options.ignore
@options.output_format(*names(reporters), default=None)
@click.option(
    "--fail-on",
    type=OneOf([*(each.value for each in Severity), "never"]),
    help="The lowest severity that gives exit status 1 [error].",
)
@click.option("--statistics", is_flag=True, help="Also count the findings of every rule.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.pass_context
def markers(context: click.Context, /, **given: Any) -> None:
    """Check the markers in FILE, such as [STAGE:begin:id=S01_load_data], and report every mistake at its line.

    `-` reads standard input: `tail -f run.log | stagec markers -` reports while the log is written. Memory does not
    grow with the log. It reports the first 1,000 findings of each rule.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.commands.markers.run import MarkersRequest, run

    context.exit(run(MarkersRequest(**given)))
