"""`stagec graph`: a drawing of the flows of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec import emitters
from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.parameters import OneOf
from stagec.cli.running import options as running
from stagec.core.shelf import names


@click.command(short_help="Draw the flows of a project with its findings.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option(
    "--format",
    "output_format",
    type=OneOf(names(emitters)),
    help="The format; by default that of the name of --output, else mermaid.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the drawing to a file.")
@click.option("--focus", metavar="NODE", help="Draw only the nodes near this node, in both directions.")
@click.option(
    "--depth", type=click.IntRange(min=0), default=2, show_default=True, help="The distance of --focus, in lines."
)
@click.option("--collapse", type=OneOf(("cycle", "phase")), help="Draw each cycle, or each phase, as one box.")
@click.option(
    "--edges",
    type=OneOf(("all", "once", "main")),
    help="How to draw failures that all nodes have in common: each (all), one for all nodes (once), or none (main)."
    " The default is all for json and graphml, else once.",
)
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Draw only the flow with this id.")
@click.option(
    "--diff",
    metavar="REV|PLAN|FOLDER",
    help="Draw what has changed since this revision, plan or folder, in one picture.",
)
@click.option("--changed", is_flag=True, help="With --diff: draw only nodes near changes, up to --depth.")
@click.option("--run", "run_name", metavar="RUN", help="Show the state of the nodes in this run, and draw its flow.")
@running.runs
@options.watch
@click.pass_context
def graph(context: click.Context, /, **given: Any) -> None:
    """Draw the flows of the agents and pipelines in PATHS, or in the configured roots.

    With --diff, the drawing shows the older and the newer side in one: what is added, removed and changed, by border,
    line, sign and colour. `REV` is PATH as it was in that revision of git, `REV:PATH` another path in it; PATH may be
    the file of a plan. Flows without changes are left out unless all are.

    The drawing shows each finding at its node or line; a project may have errors. The format png needs the program
    `dot` of Graphviz.

    Exit status: 0 drawn, 2 usage or environment, 3 nothing to draw, 4 internal error.
    """
    from stagec.cli.commands.graph.run import GraphRequest, run

    context.exit(run(GraphRequest(**given)))
