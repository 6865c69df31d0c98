"""`stagec tools`: list the tools of a project, lock what its MCP servers offer, and compare."""

from __future__ import annotations

from pathlib import Path

import click

from stagec.cli import options
from stagec.cli.parameters import ExistingPath, Group

COMMAND = Group(
    "tools",
    help="List the tools of a project, and lock the tools of its MCP servers.",
    short_help="List, lock and compare the tools of a project.",
)
_paths = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="The time limit for each server.",
)
_formats = options.output_format("text", "json", default="text")


@COMMAND.subcommand("list", "List the known tools.")
@_paths
@options.root
@_formats
def _list(paths: tuple[Path, ...], root: Path | None, output_format: str) -> None:
    """List the tools in the catalogues and locks of a project; start no server."""
    from stagec.cli.commands.tools.listing import open_project, print_tools

    print_tools(open_project(paths, root), output_format)


@COMMAND.subcommand("lock", "Ask the MCP servers for their tools and write tools.lock.json.")
@_paths
@options.root
@_timeout
def _lock(paths: tuple[Path, ...], root: Path | None, timeout: float) -> None:
    """Start every MCP server, ask it for all its tools, and write tools.lock.json beside the catalogue.

    stagec writes nothing unless every server answers. A server gets the variables in its `env`, and HOME, LOGNAME,
    PATH, SHELL, TERM and USER. stagec always stops the servers.
    """
    from stagec.cli.commands.tools.listing import open_project
    from stagec.cli.commands.tools.servers import write_locks

    write_locks(open_project(paths, root), timeout)


@COMMAND.subcommand("diff", "Compare the locked tools with the tools of the servers.")
@_paths
@options.root
@_timeout
@click.option(
    "--against",
    type=ExistingPath(folder=False),
    metavar="FILE",
    help="An older lock to compare with; no server is started.",
)
@_formats
def _diff(paths: tuple[Path, ...], root: Path | None, timeout: float, against: Path | None, output_format: str) -> None:
    """Report which tools were added, removed or changed since they were locked; exit with 1 if there are any.

    Like `lock`, it starts and asks the servers. With --against, it compares with FILE, an older lock, and starts no
    server.
    """
    from stagec.cli.commands.tools.diff import compare
    from stagec.cli.commands.tools.listing import open_project

    click.get_current_context().exit(compare(open_project(paths, root), timeout, against, output_format))
