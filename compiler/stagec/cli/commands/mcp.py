"""`stagec mcp`: what stagec knows of a project, as tools for agents."""

from __future__ import annotations

import os
from pathlib import Path

import click

from stagec.cli.parameters import ExistingPath
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure


def run(context: click.Context, folder: Path) -> Exit:
    """Serve a client until it ends, and return the exit status."""
    from stagec.cli.agent_tools.tools import INSTRUCTIONS, make_tools
    from stagec.runtime.world.tool_server import serve_tools

    start_collector()
    top = context.find_root()
    program = top.command
    budgets = [f"--budget={each}" for each in top.params.get("budget", ())]

    def invoke(words: list[str]) -> int:
        try:
            with program.make_context("stagec", [*budgets, *words]) as inner:
                program.invoke(inner)
        except click.exceptions.Exit as asked:
            return asked.exit_code
        except click.ClickException as refused:
            raise Failure(refused.format_message()) from refused
        return Exit.CLEAN

    tools = make_tools(folder, invoke)
    os.chdir(folder)  # commands are asked about what is in the working directory
    serve_tools(tools, INSTRUCTIONS)
    return Exit.CLEAN


@click.command(short_help="Serve an agent by the Model Context Protocol.")
@click.argument("folder", default=".", type=ExistingPath(file=False))
@click.pass_context
def mcp(context: click.Context, folder: Path) -> None:
    """Serve an agent, whose host starts this command and speaks the Model Context Protocol with it.

    The tools tell what stagec knows of the project in FOLDER: findings, rules, flows, drawings, bounds, permissions and
    changes. No tool writes a file or reads one outside the project. It needs the extra 'mcp'.

    Exit status: 0 the host has ended it, 2 usage or environment, 4 internal error.
    """
    context.exit(run(context, folder))
