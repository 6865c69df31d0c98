"""`stagec bounds`: how much runs take at most, and at least."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.running.assumptions import CostOptions, takes_assumptions


@click.command(short_help="Print the bounds of runs: steps, turns, tokens, money, time.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@takes_assumptions
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def bounds(context: click.Context, /, **given: Any) -> None:
    """Print the most and the least that runs of each flow in PATHS, or of each PLAN, use, or why there is no bound.

    The numbers are steps (executions of nodes), model turns, tool calls, tokens, money by a table of prices, and time,
    with the longest and the shortest paths. `-` reads a plan from standard input. A SPAN is `LEAST..MOST`, or only the
    most; `[cost]` in the configuration sets the same values.

    Exit status: 0 each flow has a bound, 1 some flow has none or has errors, 2 usage or environment,
    3 no flow, 4 internal error.
    """
    from stagec.cli.commands.bounds.run import BoundsRequest, run

    cost = CostOptions(**{name: given.pop(name) for name in CostOptions.__match_args__})
    context.exit(run(BoundsRequest(cost, **given)))
