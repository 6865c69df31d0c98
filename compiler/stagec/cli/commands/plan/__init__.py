"""`stagec plan`: look at plans."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options
from stagec.cli.completions import complete_node
from stagec.cli.parameters import Group

COMMAND = Group(
    "plan",
    help="Show a plan that 'stagec compile' has written.",
    short_help="Show the content of a plan.",
)


@COMMAND.subcommand("show", "Print the content of a plan.")
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--node", metavar="NODE", shell_complete=complete_node, help="Print all of one node, with its prompt and schema."
)
@click.option("--content", metavar="DIGEST", help="Print one text unchanged; the first digits are enough.")
@options.output_format("text", "json", default="text")
def _show(path: Path, node: str | None, content: str | None, output_format: str) -> None:
    """Print the content of PLAN: entries, limits, facts, nodes with their edges, inputs, tools and sources.

    `-` reads the plan from standard input. `show` refuses every plan that `stagec verify` refuses.
    In prompts, `{{path}}` marks where a value is inserted.

    Exit status: 0 shown, 1 the plan is refused, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.commands.plan.show import ShowRequest, show

    show(ShowRequest(path, node, content, output_format))
