"""`stagec config show`: the effective settings, and where each came from."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options


def _show(paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """Print the settings that a run on PATHS would have, and where each came from.

    The text is TOML that a stagec.toml may hold; the comments say where the values come from.
    """
    from stagec.cli.limits import configured
    from stagec.cli.settings_text import as_json, as_toml
    from stagec.cli.streams import put

    configuration = configured(paths, root)
    put(as_json(configuration) if output_format == "json" else as_toml(configuration))


def _shown() -> click.Command:
    """Make the subcommand; a module of the shelf names one command only."""
    arguments = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
    formats = options.output_format("text", "json", default="text")
    brief = "Print the effective settings and where each came from."
    return click.command("show", short_help=brief)(arguments(options.root(formats(_show))))


COMMAND = click.Group(
    "config",
    commands=[_shown()],
    help="Look at the configuration of a project.",
    short_help="Show the configuration of a project.",
)
