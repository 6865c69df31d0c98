"""`stagec permissions`: what each node may do, and what of that the tests of its flow need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.running import options as running


@click.command(short_help="List what each node may do, why, and the tools that its tests call.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path(path_type=Path))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@click.option(
    "--run",
    "named",
    multiple=True,
    metavar="RUN",
    shell_complete=running.complete_run,
    help="A recorded run; its calls count like those of a test. Repeatable.",
)
@click.option("--all-runs", is_flag=True, help="Count the calls of all recorded runs of these flows.")
@running.runs
@running.database
@click.option("--check", is_flag=True, help="Exit with 1 if a node has tools that the tests and runs do not call.")
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def permissions(context: click.Context, /, **given: Any) -> None:
    """List the tools and programs of each node of the flows in PATHS, or in the configured roots.

    For each tool it prints the labels, their source, the place that allows the tool, and how many tests and runs call
    it. Then it prints the least set of tools that the runs of the flow's tests ('*.flow-test.yaml') call, and the
    surplus tools. The tests run in memory, as with 'stagec test'. Expectations about the lists of tools do not count.
    The row 'unknown' names nodes whose calls are not recorded.

    Exit status: 0 listed, 1 surplus tools (--check), 2 usage or environment, 3 no node with tools or programs, 4
    internal error.
    """
    from stagec.cli.commands.permissions.run import PermissionsRequest, run

    context.exit(run(PermissionsRequest(**given)))
