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
    """Print what a bug report needs: versions, extras, programs, the effective configuration, and the terminal.

    stagec starts no program, sends nothing, and prints no secret: it prints environment variables only by name, except
    those of the terminal and the locale, and the home folder as '~'.

    Exit status: 0 no problem, 1 a library is missing or the configuration is wrong, 2 usage or environment, 4 internal
    error.
    """
    from stagec.cli.commands.doctor.page import print_examination

    context.exit(print_examination(paths, root, output_format))
