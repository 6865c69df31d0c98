"""`stagec paths`: scenarios that cover a flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.running.options import entry


@click.command(short_help="Write few scenarios that take every edge of a flow, or the shortest one to a node.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@entry
@click.option("--to", metavar="NODE", help="Write the shortest run that comes to this node, and nothing else.")
@click.option("--pairs", is_flag=True, help="Also take every pair of edges that can follow each other.")
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
    r"""Write few scenarios that run every node and every edge of each flow in PATHS, or of each PLAN.

    There is no smaller set, unless limits cut runs short. Every answer that takes another way is tried on the machine
    that runs plans, so each scenario is one that really runs so. Answers satisfy their schemas. With -o, or --format
    flow-test, the runs are tests that 'stagec test' passes at once. What no run covers is named with the reason. `-`
    reads a plan from standard input.

    Exit status: 0 everything is covered, 1 something is not or a flow has errors, 2 usage or environment,
    3 no flow, 4 internal error.

    \b
    Examples:
      stagec paths
      stagec paths demo -o demo/ways.flow-test.yaml
      stagec paths demo --to review --format flow-test
    """
    from stagec.cli.commands.paths.run import PathsRequest, run

    context.exit(run(PathsRequest(**given)))
