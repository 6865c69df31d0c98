"""`stagec simulate`: walk through a plan without doing anything."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli.running import options


@click.command(short_help="Walk through a plan; nothing is run, and nothing is kept.")
@options.plan
@options.scenario
@options.inputs
@options.entry
@click.pass_context
def simulate(context: click.Context, /, **given: Any) -> None:
    """Walk through PLAN: whatever the plan asks of the world is asked of you, with the ways that lead on from there.

    Answer with the number of a way, with an outcome, or with JSON; 'undo' takes an answer back, 'help' says more. With
    a scenario, its answers are taken and the way is printed. No command is run, no callable called, and no time passes.

    Exit status: 0 the run has ended as done, or you have left it; 1 it has ended as failed; 2 usage or environment,
    or the scenario has no answer; 4 internal error.
    """
    from stagec.cli.commands.simulate.session import SimulateRequest, walk

    context.exit(walk(SimulateRequest(**given)))
