"""`stagec export`: agent files of another tool, made of stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli.parameters import ExistingPath, OneOf


@click.command(short_help="Write stages as agent files of another tool.")
@click.argument("path", metavar="PATH", type=ExistingPath())
@click.option(
    "--to",
    "owner",
    type=OneOf(("claude", "copilot")),
    required=True,
    help="The tool that reads the files: Claude Code, or GitHub Copilot and VS Code.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the new files; by default '.claude/agents' or '.github/agents' in the current folder.",
)
@click.pass_context
def export(context: click.Context, /, **given: Any) -> None:
    """Write an agent file for each stage of PATH, a project, a pipeline or one stage definition.

    The files have the names, descriptions, tools and prompts of the stages. Standard error has a line for each part of
    a stage that its file cannot express. stagec never overwrites a file: if a file exists, stagec names it and writes
    nothing.

    Exit status: 0 written, 2 usage or environment, 3 no stage, 4 internal error.
    """
    from stagec.cli.commands.export.run import ExportRequest, run

    context.exit(run(ExportRequest(**given)))
