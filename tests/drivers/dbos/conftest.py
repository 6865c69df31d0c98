"""Databases of runs, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres import Postgres

from stagec.runtime.drivers.dbos import RunStore, migrate, open_database


def _migrate(url: str) -> str:
    database = open_database(url)
    migrate(database)
    database.close()
    return url


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a database that has its tables, and no runs."""
    path = tmp_path_factory.mktemp("migrated") / "runs.sqlite"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres_server: Postgres) -> str:
    """Return the name of a database that has its tables, and no runs."""
    return _migrate(postgres_server.create_database()).rpartition("/")[2]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database of each kind that has its tables, and no runs."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("migrated_file"), tmp_path / "runs.sqlite")
        return f"sqlite:///{tmp_path / 'runs.sqlite'}"
    create: Callable[..., str] = request.getfixturevalue("postgres_server").create_database
    return create(template=request.getfixturevalue("migrated_database"))


@pytest.fixture
def runs(url: str) -> Iterator[RunStore]:
    """Return the runs of a database of each kind, of which there are none yet."""
    database = open_database(url, 8)
    yield RunStore(database)
    database.close()
