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


def _limit(database: str | None, tenant: str | None, provider: str | None, **more: object) -> None:
    """Limit how many runs of a tenant, or requests to a provider, are under way or begin in a time; list all limits.

    A limit replaces the one before; without --concurrency and --rate none holds. '*' is each tenant without a limit of
    its own. Workers obey within seconds.

    Examples:
      stagec database limit --tenant '*' --concurrency 50

      stagec database limit --provider openai --concurrency 20 --rate 500/60s
    """
    from stagec.cli.databases.administration import read_limit, set_limit

    if tenant is not None and provider is not None:
        raise click.UsageError("a limit is for a --tenant or for a --provider")
    concurrency, rate = more["concurrency"], more["rate"]
    if tenant is None and provider is None and (concurrency, rate) != (None, None):
        raise click.UsageError("--tenant or --provider says what the limit is for")
    kind, name = ("provider", provider) if provider is not None else ("tenant", tenant)
    most = concurrency if isinstance(concurrency, int) else None
    given = rate if isinstance(rate, str) else None
    set_limit(database, None if name is None else read_limit(kind, "" if name == "*" else name, most, given))


def _prune(database: str | None, older_than: float) -> None:
    """Remove runs that have ended, with their journals and signals, and the plans that no run has any more."""
    from stagec.cli.databases.administration import prune

    prune(database, older_than)


def _commands() -> list[click.Command]:
    """Make the subcommands; a module of the shelf names one command only."""
    named = options.database
    formats = general.output_format("text", "json", default="text")
    tenant = click.option("--tenant", metavar="NAME", help="The tenant whose runs are limited; '*' is each.")
    provider = click.option("--provider", metavar="NAME", help="The provider of models whose requests are limited.")
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
        click.command("limit", short_help="Limit tenants and providers.")(
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
