"""`stagec simulate`: walk through a plan without doing anything."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli.running import options


@click.command(short_help="Step through a plan by hand; nothing runs and nothing is stored.")
@options.plan
@options.scenario
@options.inputs
@options.entry
@click.pass_context
def simulate(context: click.Context, /, **given: Any) -> None:
    """Step through PLAN: answer each request yourself, and see the next node of each answer.

    Answer with the number of an edge, with an outcome, or with JSON; 'undo' removes the last answer, 'help' explains
    more. With a scenario, stagec uses its answers and prints the moves. It runs no command, calls no callable, and
    skips waits.

    Exit status: 0 the run has ended as done, or you have quit; 1 it has ended as failed; 2 usage or environment, or the
    scenario has no answer; 4 internal error.
    """
    from stagec.cli.commands.simulate.session import SimulateRequest, walk

    context.exit(walk(SimulateRequest(**given)))
