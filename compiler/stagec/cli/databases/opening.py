"""Open the database that somebody names; the libraries for it are an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stagec.core.failure import Failure

if TYPE_CHECKING:
    from stagec.drivers.dbos import Database, RunStore


@contextmanager
def open_named(url: str | None, connections: int = 5) -> Iterator[Database]:
    """Open a database; nothing is asked of it yet."""
    if url is None:
        raise Failure("no database is named: --database URL does, or the variable STAGEC_DATABASE")
    from stagec.drivers.dbos import open_database

    database = open_database(url, connections)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def open_store(url: str | None) -> Iterator[RunStore]:
    """Open the runs of a database; raise `Failure` unless its tables are those of this version."""
    with open_named(url) as database:
        from stagec.drivers.dbos import RunStore, check

        check(database)
        yield RunStore(database)
