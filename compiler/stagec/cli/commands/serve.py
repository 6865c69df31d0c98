"""`stagec serve`: runs on a page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli.parameters import ExistingPath
from stagec.cli.running import options


@click.command(short_help="Show runs live on a page in the browser.")
@options.runs
@options.database
@click.option(
    "--plans",
    multiple=True,
    type=ExistingPath(),
    metavar="PATH",
    help="A plan, or a folder with plans, whose runs the page can start; repeatable.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    default=8642,
    show_default=True,
    metavar="PORT",
    help="The port to listen on; 0 is any free port.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The token that opens the page, on the first line of a file; by default a new one each time.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="An additional address of the page, such as that of a TLS proxy.",
)
@click.option("--allow-start", is_flag=True, help="Let the page start runs of the plans, and resume runs.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser of this machine.")
@click.argument("run_options", nargs=-1, metavar="[-- OPTIONS OF RUN]")
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve a page that shows the runs in --runs, or in a --database, live, on the graph of their plan.

    It prints an address with a token; anyone who has it can see every run, and answer, pause and cancel. Open it in a
    browser on this machine. Runs are separate processes, which continue when this command ends.

    Arguments after '--' are passed to each run that the page starts, such as '-- --model openai:gpt-5'. In a
    database the page submits runs, and workers execute them with their own options.

    Exit status: 0 ended by Ctrl-C, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.databases.submission import open_served_runs
    from stagec.cli.running.serve_request import ServeRequest, serve

    context.exit(serve(ServeRequest(**given), open_served_runs))
