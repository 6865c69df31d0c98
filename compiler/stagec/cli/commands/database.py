"""`stagec database`: prepare, check and tidy a database of runs."""

from __future__ import annotations

import click

from stagec.cli import options as general
from stagec.cli.parameters import FiniteRange, Group
from stagec.cli.running import options

COMMAND = Group(
    "database",
    help="Prepare, check, limit and clean up a database of runs.",
    short_help="Prepare and check a database of runs.",
)


@COMMAND.subcommand("migrate", "Create the tables, or migrate them to this version.")
@options.database
def _migrate(database: str | None) -> None:
    """Create the tables of a database of runs, or migrate them to this version. Existing runs stay.

    Run this once before the first `stagec submit`, and again with each new version of stagec before its workers start.
    """
    from stagec.cli.databases.administration import migrate

    migrate(database)


@COMMAND.subcommand("check", "Check the tables, count runs, list workers.")
@options.database
@general.output_format("text", "json", default="text")
def _check(database: str | None, output_format: str) -> None:
    """Check that the database is reachable and has the tables of this version; count its runs and list its workers.

    Exit status: 0 the database is usable, 2 it is not, 4 internal error.
    """
    from stagec.cli.databases.administration import check

    check(database, output_format)


@COMMAND.subcommand("limit", "Limit runs and requests.")
@options.database
@click.option("--tenant", metavar="NAME", help="The tenant whose runs are limited; '*' is every tenant.")
@click.option("--provider", metavar="NAME", help="The model provider to limit, such as openai.")
@click.option("--concurrency", type=click.IntRange(1, 1_000_000), metavar="N", help="The most at the same time.")
@click.option("--rate", metavar="N/SECONDSs", help="The most that start in this many seconds, such as 100/60s.")
def _limit(
    database: str | None, tenant: str | None, provider: str | None, concurrency: int | None, rate: str | None
) -> None:
    r"""Limit the runs of a tenant, or the requests to a model provider, for all workers together; list all limits.

    --concurrency limits how many are active at the same time, --rate how many start within a time. A new limit replaces
    the old one; without --concurrency and --rate, the limit is removed. Workers apply it within seconds. '*' is every
    tenant without its own limit. A run counts again each time it continues after an answer.

    \b
    Examples:
      stagec database limit --tenant '*' --concurrency 50
      stagec database limit --tenant acme --concurrency 20 --rate 500/60s
      stagec database limit --provider openai --concurrency 8 --rate 60/60s
    """
    from stagec.cli.databases.administration import read_limit, set_limit

    if tenant is not None and provider is not None:
        raise click.UsageError("--tenant and --provider exclude each other: set each limit with its own command")
    for name, given in (("tenant", tenant), ("provider", provider)):
        if given == "":
            raise click.UsageError(f"--{name} is empty: name a {name}")
    if tenant is None and provider is None:
        if (concurrency, rate) != (None, None):
            raise click.UsageError("name what is limited: --tenant for runs, --provider for requests")
        set_limit(database, None)
        return
    set_limit(database, read_limit("" if tenant in {None, "*"} else tenant, provider or "", concurrency, rate))


@COMMAND.subcommand("prune", "Remove runs that have ended.")
@options.database
@click.option(
    "--older-than",
    type=FiniteRange(0, 100_000),
    required=True,
    metavar="DAYS",
    help="The least number of days since the end of a run.",
)
def _prune(database: str | None, older_than: float) -> None:
    """Remove runs that have ended, with their journals and signals, and plans without runs."""
    from stagec.cli.databases.administration import prune

    prune(database, older_than)
