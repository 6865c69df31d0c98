"""`stagec migrate`: bring a project to the next release of its format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.parameters import OneOf


@click.command(short_help="Convert registries, agents and workflows to the format of climpt 1.14.")
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
    """List the changes that the registries, agents and workflows in PATHS, or in the configured roots, need.

    --write makes the unambiguous changes, --diff prints them as a patch; without either, stagec lists them. It lists
    each decision that you must make with its place and a proposal, and does not change it. The tools of an agent move
    to a new settings file; stagec never overwrites an existing file.

    Exit status: 0 nothing left to do, 1 changes or decisions left, 2 usage or environment, 3 nothing to migrate, 4
    internal error.
    """
    from stagec.cli.commands.migrate.run import MigrateRequest, run

    context.exit(run(MigrateRequest(**given)))
