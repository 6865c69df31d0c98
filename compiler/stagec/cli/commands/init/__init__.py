"""`stagec init`: a new project, minimal or made of agent files, or a stage definition made of one agent file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli.parameters import ExistingPath, OneOf


@click.command(short_help="Make a new project, minimal or from agent files.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--system",
    type=OneOf(("pipeline", "registry", "stages")),
    help="The kind of project: stages of models (pipeline, the default), the steps of an agent (registry),"
    " or stages that are processes (stages).",
)
@click.option(
    "--from",
    "source",
    type=ExistingPath(),
    metavar="PATH",
    help="A folder with agent files of Claude Code, Copilot, VS Code, OpenCode or gh-aw, or other Markdown with a"
    " name or a description. A single file gives only a stage definition.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With a single file: write the stage to this file instead of standard output.",
)
@click.option(
    "--entry",
    metavar="NAME",
    help="With a folder: the agent with which a run starts, or a command or skill that becomes the first stage.",
)
@click.option(
    "--format",
    "form",
    type=OneOf(("text", "json")),
    help="With a folder: print the created files and the losses as text (the default) or as JSON.",
)
@click.option("--force", is_flag=True, help="With --output: replace an existing file.")
@click.pass_context
def init(context: click.Context, /, **given: Any) -> None:
    """Make a new project in DIR, by default the current folder, and print the next commands.

    stagec never overwrites a file: if one of the files exists, stagec names it and writes nothing.

    With --from and a folder, the project is a draft of a pipeline: a stage for each agent, and the routes that are
    certain. Comments mark the decisions that you must make. stagec prints a line on standard error for each part of a
    file that the draft does not contain.

    Exit status: 0 written, 2 usage or environment, 3 no usable agent file, 4 internal error.
    """
    from stagec.cli.commands.init.run import InitRequest, run

    context.exit(run(InitRequest(**given)))
