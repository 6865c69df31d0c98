"""`stagec baseline`: accept the findings that are there, and nothing that comes later."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options
from stagec.cli.parameters import Group

COMMAND = Group(
    "baseline",
    help="Accept the findings that a project has, and nothing that comes later.",
    short_help="Accept the findings that are there, so that only new ones fail.",
)


_file = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="The baseline; by default the configured one, else stagec-baseline.json.",
)


@COMMAND.subcommand("write", "Write down every finding of the project.")
@options.root
@_file
def _write(root: Path | None, baseline: Path | None) -> None:
    """Write down every finding of the project, so that `stagec validate` reports only those that come later.

    A file that is there is replaced. Findings of mandatory rules and suppressed ones are not in it.

    Exit status: 0 written, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import write

    click.get_current_context().exit(write(root, baseline))


@COMMAND.subcommand("update", "Remove what is fixed; add nothing.")
@options.root
@_file
def _update(root: Path | None, baseline: Path | None) -> None:
    """Remove what is fixed from the baseline; nothing is ever added.

    Exit status: 0 the baseline is up to date now, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import update

    click.get_current_context().exit(update(root, baseline))


@COMMAND.subcommand("check", "List what is fixed and still in the baseline.")
@options.root
@_file
def _check(root: Path | None, baseline: Path | None) -> None:
    """List the entries of the baseline that no finding matches any more; write nothing.

    Exit status: 0 there are none, 1 there are some, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import check

    click.get_current_context().exit(check(root, baseline))
