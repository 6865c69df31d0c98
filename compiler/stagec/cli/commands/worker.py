"""`stagec worker`: execute runs of a database."""

from __future__ import annotations

from typing import Any

import click

from stagec.cli.parameters import FiniteRange, SectionedCommand
from stagec.cli.running import options
from stagec.cli.running.world_options import takes_world


@click.command(cls=SectionedCommand, short_help="Execute the runs of a database.")
@options.database
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="How many runs each worker of this database executes at the same time; by default the last value, or 16.",
)
@click.option(
    "--fan-out",
    is_flag=True,
    help="Share the parallel requests of a run among all workers; by default, one worker makes them all.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Serve /health and /metrics over HTTP at this address, such as 127.0.0.1:9464.",
)
@click.option(
    "--grace",
    type=FiniteRange(0, 86_400),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="The time for open requests after SIGTERM; after it, other workers make them again.",
)
@click.option(
    "--patience",
    type=FiniteRange(5, 3600),
    default=15,
    show_default=True,
    metavar="SECONDS",
    help="The heartbeat timeout: without a heartbeat for this time, others take over the runs of a worker.",
)
@click.option(
    "--keep-days",
    type=FiniteRange(0, 100_000, min_open=True),
    metavar="DAYS",
    help="Remove runs that ended earlier than this, with their journals; by default runs are kept.",
)
@takes_world
@click.pass_context
def worker(context: click.Context, /, **given: Any) -> None:
    r"""Take runs from a database and execute them, until Ctrl-C or SIGTERM.

    `stagec submit` puts runs into the database, and `stagec database migrate` creates its tables. Any number of
    workers, on any number of machines, execute the runs of one database. The options select models and tools; scenarios
    are stored with the runs. A run that waits for an answer holds no worker; it continues after `stagec runs answer`.

    After the signal, the worker takes no more work. It stops each run at its next event, and returns it to the queue. A
    worker that cannot execute a run reports the reason and returns the run.

    Exit status: 0 ended by a signal, and all runs are returned; 2 usage or environment, 4 internal error.

    \b
    Examples:
      stagec worker --database postgresql://stagec@db/stagec --listen 127.0.0.1:9464
      stagec worker --database sqlite:///runs.sqlite
    """
    from stagec.cli.databases.worker_request import WorkerRequest, work

    context.exit(work(WorkerRequest(**given)))
