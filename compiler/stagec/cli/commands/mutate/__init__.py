"""`stagec mutate`: change one thing of a flow at a time, and tell which changes no test notices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options


@click.command("mutate", short_help="List the changes of a flow that its tests miss.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option("--only", multiple=True, metavar="OPERATOR", help="Only this kind of change; repeatable.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Try at most N changes of each flow, at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed chooses the same changes.")
@options.jobs
@click.option("--all", "lists_all", is_flag=True, help="List every change, with the test that notices it.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the tests notice less than this part of the changes of a flow.",
)
@options.output_format("text", "json", default="text")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Make one change to each tested flow at a time, and list the changes that no test notices.

    The tests are those in the files '*.flow-test.yaml' (or '.json') in PATHS, or in the configured roots. All of them
    must pass. stagec changes the compiled plan in memory: an edge has another target, a limit is one lower, a schema
    lacks a constraint, and so on. Then it runs the tests that reach the change. If all tests pass, the change survives:
    the tests miss this kind of mistake. stagec counts changes without effect separately.

    Exit status: 0 done, 1 the tests notice less than --fail-under, or a test fails without a change, 2 usage or
    environment, 3 no tests, 4 internal error.
    """
    from stagec.cli.commands.mutate.run import MutationRequest, run

    context.exit(run(MutationRequest(**given)))
