"""`stagec migrate`: bring a project to the next release of its format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.parameters import OneOf


@click.command(short_help="Bring step registries, agents and workflows to the format of climpt 1.14.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("--to", "release", type=OneOf(["1.14"]), default="1.14", show_default=True, help="The release to reach.")
@click.option("--write", is_flag=True, help="Change the files, and write the new ones.")
@click.option(
    "--diff", is_flag=True, help="Write nothing; print the changes as a patch, and exit with 1 if there are any."
)
@options.output_format("text", "json", default="text")
@options.allow_empty
@click.pass_context
def migrate(context: click.Context, /, **given: Any) -> None:
    """Find what changes in the registries, agents and workflows in PATHS, or in the configured roots.

    Changes with one meaning are made with --write, shown with --diff, and only listed without either. What a person
    must decide is listed with its place and a proposal, and never changed. What an agent may use moves to a new
    settings file; a file that is there is not overwritten.

    Exit status: 0 nothing is left to do, 1 something is, 2 usage or environment, 3 nothing to migrate,
    4 internal error.
    """
    from stagec.cli.commands.migrate.run import MigrateRequest, run

    context.exit(run(MigrateRequest(**given)))
