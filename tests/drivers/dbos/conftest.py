"""Databases of runs, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stagec.runtime.drivers.dbos import RunStore, migrate, open_database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'runs.sqlite'}"
    found: str = request.getfixturevalue("database")
    return found


@pytest.fixture
def runs(url: str) -> Iterator[RunStore]:
    """Return the runs of a database of each kind, of which there are none yet."""
    database = open_database(url, 8)
    migrate(database)
    yield RunStore(database)
    database.close()
