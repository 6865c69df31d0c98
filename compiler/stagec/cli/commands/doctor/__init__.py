"""`stagec doctor`: what a bug report needs to know of this machine, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options


@click.command(short_help="Print versions, extras, programs and configuration for a bug report.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@options.output_format("text", "json", default="text")
@click.pass_context
def doctor(context: click.Context, paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """Print what a bug report needs to know: versions, extras, programs, the configuration in force, and the terminal.

    No program is started, nothing is sent, and no secret is printed: of the environment only names are shown, and the
    home folder is '~'.

    Exit status: 0 nothing wrong, 1 something is missing or the configuration is wrong, 2 usage or environment,
    4 internal error.
    """
    from stagec.cli.commands.doctor.page import print_examination

    context.exit(print_examination(paths, root, output_format))
