"""`stagec compile`: the plans of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow


@click.command("compile", short_help="Compile each flow without errors to a plan.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="The file or folder to write. DIR is a folder, ends in '/', or gets several plans; '-' is standard output.",
)
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Compile only the flow with this id.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file differs from its flow.")
@options.without_unreachable
@options.allow_empty
@click.pass_context
def freeze(context: click.Context, /, **given: Any) -> None:
    """Compile the agents and pipelines in PATHS, or in the configured roots, to plans.

    A plan is one flow with everything that a run needs. A flow with errors has no plan. With --without-unreachable,
    stagec omits nodes that no run reaches, and ignores their errors. Every rule applies with its own severity: the
    settings select, extend-select, ignore and severity have no effect here. Errors and warnings go to standard error,
    with a line for each plan.

    Exit status: 0 all compiled, 1 some flow has errors, 2 usage or environment, 3 nothing to compile, 4 internal error.
    """
    from stagec.cli.commands.compile.run import CompileRequest, run

    context.exit(run(CompileRequest(**given)))
