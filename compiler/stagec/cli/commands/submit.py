"""`stagec submit`: put runs into a database, where workers execute them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stagec.cli import options as general
from stagec.cli.parameters import OneOf, SectionedCommand, SectionOption
from stagec.cli.running import options


@click.command(cls=SectionedCommand, short_help="Put runs of a plan into a database.")
@options.plan
@options.database
@click.option(
    "--run",
    "--key",
    "name",
    metavar="NAME",
    help="The name of the run, which starts only once, even if it is submitted several times; by default a new name.",
)
@click.option("--digest", metavar="DIGEST", help="Refuse PLAN unless this is its digest, 'sha256:' and 64 digits.")
@options.inputs
@options.entry
@options.scenario
@click.option(
    "--jobs",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help='Submit a run for each line, such as {"run": "a-1", "inputs": {"topic": "cats"}}, which may also have entry,'
    " tenant, priority and at; '-' is standard input.",
)
@click.option("--tenant", metavar="NAME", help="The owner of the run, whose runs 'stagec database limit' limits.")
@click.option("--priority", type=int, metavar="N", help="1 comes first, 10000 last; by default 100.")
@click.option("--at", metavar="TIME", help="Start at this time, such as 2027-01-31T08:00:00+01:00.")
@click.option(
    "--every",
    cls=SectionOption,
    section="Schedules",
    metavar="CRON",
    help="Declare a schedule: at the times of this cron expression, such as '0 3 * * *', workers start a run.",
)
@click.option(
    "--name", "schedule", cls=SectionOption, section="Schedules", metavar="NAME", help="The name of the schedule."
)
@click.option(
    "--time-zone",
    cls=SectionOption,
    section="Schedules",
    metavar="ZONE",
    help="The time zone of its times, such as Europe/Berlin; by default UTC.",
)
@click.option(
    "--catch-up",
    cls=SectionOption,
    section="Schedules",
    type=OneOf(["skip", "last"]),
    help="What to do about times that no worker served within a minute, or at which it was paused: nothing (skip, the"
    " default), or one run for the last of them.",
)
@general.output_format("text", "json", default="text")
@click.pass_context
def submit(context: click.Context, /, **given: Any) -> None:
    r"""Submit a run of PLAN, or a run for each line of --jobs; `stagec worker` executes them.

    The database keeps the plan, the inputs and the scenario. Submitting a run again under its name changes nothing;
    stagec refuses it if its plan, entry, inputs, scenario or tenant differ. If stagec refuses one of the jobs, it
    submits none.

    With --every, submit a schedule instead, and print its next three times. `stagec schedules` lists and removes it.

    Exit status: 0 the runs or the schedule are in the database, 2 usage or environment, or a run is refused; 4 internal
    error.

    \b
    Examples:
      stagec submit writer.plan.json --input topic=cats --run cats-1 --database sqlite:///runs.sqlite
      stagec submit writer.plan.json --jobs jobs.jsonl --tenant acme --priority 10
      stagec submit writer.plan.json --input topic=cats --every '0 3 * * *' --name nightly --time-zone Europe/Berlin
    """
    from stagec.cli.databases.submission import SubmitRequest, submit

    context.exit(submit(SubmitRequest(**given)))
