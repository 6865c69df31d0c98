"""Prepare, check, limit and clean up a database of runs."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from stagec.cli.databases.opening import open_named, open_store
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import check_name
from stagec.cli.streams import find_canvas, put
from stagec.cli.tables import draw_columns
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.words import format_count, quote

if TYPE_CHECKING:
    from stagec.drivers.dbos import QueueLimit

_LONGEST = 100
"""Characters of the name of a provider."""
_RATE = re.compile(r"(\d{1,9})/(\d{1,6}(?:\.\d{1,3})?)s")


def migrate(url: str | None) -> None:
    """Make the tables of a database, or bring them to this version."""
    with open_named(url) as database:
        from stagec.drivers.dbos import RunStore, migrate

        migrate(database)
        RunStore(database).queues.prepare(None)
        put(f"{database.name} is ready\n")


def check(url: str | None, output_format: str) -> None:
    """Print what is in a database; raise `Failure` unless this version can use it."""
    with open_store(url) as store:
        phases, versions, workers = store.count_phases(), store.count_versions(), store.list_workers()
        if output_format == "json":
            counts: Object = {"runs": {str(phase): count for phase, count in phases.items()}, "open": dict(versions)}
            rows: list[Json] = [
                {"worker": each.worker, "version": each.version, "host": each.host, "draining": each.is_draining}
                for each in workers
            ]
            told = {"version": 1, "database": store.database.name.strip("'"), **counts, "workers": rows}
            put(format_json(told, 2) + "\n")
            return
        paper = find_canvas(sys.stdout, os.environ)
        put(f"{store.database.name} has the tables of this version\n")
        cells = [("worker", each.worker, each.version, "draining" if each.is_draining else "") for each in workers]
        cells += [("runs", phase, f"{count:,}", "") for phase, count in phases.items()]
        cells += [("open runs", version, f"{count:,}", "") for version, count in versions.items()]
        put(draw_columns(paper, cells))


def set_limit(url: str | None, limit: QueueLimit | None) -> None:
    """Let a limit hold, if one is given, and print all that hold."""
    with open_store(url) as store:
        if limit is not None:
            store.queues.set_limit(limit)
        paper, found = find_canvas(sys.stdout, os.environ), store.queues.list_limits()
        cells = [
            (
                "provider" if each.provider else "tenant",
                each.provider or each.tenant or "each other",
                "any number at once" if each.concurrency is None else f"{each.concurrency} at once",
                "" if each.begins is None else f"{each.begins} in {each.seconds:g} s",
            )
            for each in found
        ]
        put(draw_columns(paper, cells) if cells else "no limits\n")


def read_limit(tenant: str, provider: str, concurrency: int | None, rate: str | None) -> QueueLimit:
    """Return a limit; raise `Failure` for a rate that is none, and for the name of a model in place of a provider."""
    from stagec.drivers.dbos import QueueLimit

    if tenant:
        check_name(tenant, "tenant")
    if ":" in provider:
        named = quote(provider.partition(":")[0])
        raise Failure(f"{quote(provider)} is a model: a limit holds for all models of a provider, here {named}")
    if not provider.isprintable() or len(provider) > _LONGEST:
        raise Failure(f"{quote(provider)} is not a provider: write one such as 'openai'")
    if rate is None:
        return QueueLimit(tenant, concurrency, provider=provider)
    found = _RATE.fullmatch(rate)
    if found is None or not int(found[1]) or not float(found[2]):
        raise Failure(f"{quote(rate)} is not a rate: write one such as '100/60s'")
    return QueueLimit(tenant, concurrency, int(found[1]), float(found[2]), provider)


def prune(url: str | None, days: float) -> None:
    """Remove runs that have ended so many days ago."""
    with open_store(url) as store:
        from stagec.drivers.dbos.retention import remove_old

        put(f"{format_count(remove_old(store, days * 86_400), 'run')} removed\n")
