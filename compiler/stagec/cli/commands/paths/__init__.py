"""`stagec paths`: scenarios that cover a flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.running.options import entry


@click.command(short_help="Write a small set of scenarios that covers a flow, or the shortest run to a node.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@entry
@click.option("--to", metavar="NODE", help="Write only the shortest run to this node.")
@click.option("--pairs", is_flag=True, help="Also cover every pair of edges that can follow each other.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the runs of one flow as flow tests; FILE ends in '.flow-test.yaml' and must not exist.",
)
@options.output_format("text", "flow-test", "json", default="text")
@click.pass_context
def paths(context: click.Context, /, **given: Any) -> None:
    r"""Write a small set of scenarios that runs every node and every edge of each flow in PATHS, or of each PLAN.

    No smaller set exists, unless limits end runs early or a set needs more than
    6,000 executions. stagec runs each scenario, and writes it only if it takes the
    expected path. Answers satisfy their schemas. With -o, or --format flow-test, stagec writes tests that 'stagec test'
    passes. It names each uncovered part with the reason. `-` reads a plan from standard input.

    Exit status: 0 all parts are covered, 1 a part is not covered or a flow has errors, 2 usage or environment, 3 no
    flow, 4 internal error.

    \b
    Examples:
      stagec paths
      stagec paths demo -o demo/all.flow-test.yaml
      stagec paths demo --to review --format flow-test
    """
    from stagec.cli.commands.paths.run import PathsRequest, run

    context.exit(run(PathsRequest(**given)))
