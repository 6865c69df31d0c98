"""`stagec export`: agent files of another tool, made of stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.change.creation.exporting import OWNERS, export_stages
from stagec.check.pipeline import Project, read_documents
from stagec.cli.files import create_files, name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import ExistingPath, OneOf
from stagec.cli.streams import put, say
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count, quote, visible


@value
class ExportRequest:
    """The arguments and options as given; None where one is absent."""

    path: Path
    owner: str
    output: Path | None = None


def run(request: ExportRequest) -> Exit:
    """Write what was asked for, and return the exit status."""
    configuration = load_configuration((request.path,), None)
    project = Project(configuration.root, (request.path.absolute(),), configuration.settings)
    owner = OWNERS[request.owner]
    made = export_stages(read_documents(project), owner)
    if not made.files:
        raise Failure(f"nothing to export: {quote(request.path)} holds no stage that can be read", Exit.NOTHING)
    folder = request.output if request.output is not None else Path(owner.folder)
    create_files(folder, made.files, durable=False)  # the same command makes them again
    put(f"Created {format_count(len(made.files), 'file')} in {quote(folder)}:\n")
    put("".join(f"  {visible(file)}\n" for file in sorted(made.files)))
    name = name_from_here(project.root)
    for each in made.losses:
        say(f"stagec: note: {visible(name(each.file))}:{each.line}: {each.key}: {each.why}")
    return Exit.CLEAN


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
    context.exit(run(ExportRequest(**given)))
