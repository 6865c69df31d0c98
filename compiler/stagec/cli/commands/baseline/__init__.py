"""`stagec baseline`: accept the findings that are there, and nothing that comes later."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options
from stagec.cli.parameters import Group

COMMAND = Group(
    "baseline",
    help="Accept the existing findings of a project, so that only new ones fail.",
    short_help="Accept existing findings, so that only new ones fail.",
)


_file = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="The baseline; by default the configured one, else stagec-baseline.json.",
)


@COMMAND.subcommand("write", "Write every finding of the project into the baseline.")
@options.root
@_file
def _write(root: Path | None, baseline: Path | None) -> None:
    """Write every finding of the project into the baseline, so that `stagec validate` reports only new findings.

    An existing file is replaced. The baseline does not contain findings of mandatory rules and suppressed findings.

    Exit status: 0 written, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import write

    click.get_current_context().exit(write(root, baseline))


@COMMAND.subcommand("update", "Remove fixed findings; add nothing.")
@options.root
@_file
def _update(root: Path | None, baseline: Path | None) -> None:
    """Remove fixed findings from the baseline; add nothing.

    Exit status: 0 the baseline is up to date now, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import update

    click.get_current_context().exit(update(root, baseline))


@COMMAND.subcommand("check", "List fixed findings that are still in the baseline.")
@options.root
@_file
def _check(root: Path | None, baseline: Path | None) -> None:
    """List the entries of the baseline whose findings are fixed; write nothing.

    Exit status: 0 there are none, 1 there are some, 2 usage or environment, 3 nothing to check, 4 internal error.
    """
    from stagec.cli.commands.baseline.run import check

    click.get_current_context().exit(check(root, baseline))
