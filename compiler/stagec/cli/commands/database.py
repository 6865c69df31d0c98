"""`stagec database`: prepare, check and tidy a database of runs."""

from __future__ import annotations

import click

from stagec.cli import options as general
from stagec.cli.parameters import Group
from stagec.cli.running import options


def _migrate(database: str | None) -> None:
    """Make the tables of a database of runs, or bring them to this version. Runs that are there stay.

    Do this once before the first `stagec submit`, and again with each new version of stagec before its workers start.
    """
    from stagec.cli.databases.administration import migrate

    migrate(database)


def _check(database: str | None, output_format: str) -> None:
    """Check that a database can be reached and has the tables of this version; count its runs and list its workers.

    Exit status: 0 it can be used, 2 it cannot, 4 internal error.
    """
    from stagec.cli.databases.administration import check

    check(database, output_format)


def _limit(
    database: str | None, tenant: str | None, provider: str | None, concurrency: int | None, rate: str | None
) -> None:
    r"""Limit the runs of a tenant, or the requests to a provider of models, for all workers together; list all limits.

    How many are under way is limited, how many begin in a time, or both. A limit replaces the one before; without
    --concurrency and --rate none holds. Workers obey within seconds. '*' is each tenant without a limit of its own.
    What is counted for tenants are parts of runs: one that went on after an answer is two.

    \b
    Examples:
      stagec database limit --tenant '*' --concurrency 50
      stagec database limit --tenant acme --concurrency 20 --rate 500/60s
      stagec database limit --provider openai --concurrency 8 --rate 60/60s
    """
    from stagec.cli.databases.administration import read_limit, set_limit

    if tenant is not None and provider is not None:
        raise click.UsageError("--tenant and --provider are limits of their own: set one after the other")
    if provider == "":
        raise click.UsageError("--provider names no provider")
    if tenant is None and provider is None:
        if (concurrency, rate) != (None, None):
            raise click.UsageError("--tenant says whose runs are limited, --provider whose requests")
        set_limit(database, None)
        return
    set_limit(database, read_limit("" if tenant in {None, "*"} else tenant, provider or "", concurrency, rate))


def _prune(database: str | None, older_than: float) -> None:
    """Remove runs that have ended, with their journals and signals, and the plans that no run has any more."""
    from stagec.cli.databases.administration import prune

    prune(database, older_than)


def _commands() -> list[click.Command]:
    """Make the subcommands; a module of the shelf names one command only."""
    named = options.database
    formats = general.output_format("text", "json", default="text")
    tenant = click.option("--tenant", metavar="NAME", help="The tenant whose runs are limited; '*' is each.")
    provider = click.option("--provider", metavar="NAME", help="The provider of models to limit, such as openai.")
    concurrency = click.option(
        "--concurrency", type=click.IntRange(min=1), metavar="N", help="So many at the same time."
    )
    rate = click.option("--rate", metavar="N/SECONDSs", help="So many begin in so many seconds, such as 100/60s.")
    older = click.option(
        "--older-than",
        type=click.FloatRange(min=0),
        required=True,
        metavar="DAYS",
        help="How long ago the runs have ended.",
    )
    return [
        click.command("migrate", short_help="Make the tables, or bring them to this version.")(named(_migrate)),
        click.command("check", short_help="Check the tables, count runs, list workers.")(named(formats(_check))),
        click.command("limit", short_help="Limit runs and requests.")(
            named(tenant(provider(concurrency(rate(_limit)))))
        ),
        click.command("prune", short_help="Remove runs that have ended.")(named(older(_prune))),
    ]


COMMAND = Group(
    "database",
    commands=_commands(),
    help="Prepare, check and tidy a database of runs.",
    short_help="Prepare and check a database of runs.",
)
