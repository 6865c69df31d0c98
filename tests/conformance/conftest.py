"""Which drivers are on trial: those of stagec, or the one that somebody names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from postgres import Postgres

from conformance.port import Driver
from conformance.ports.dbos import DbosDriver
from conformance.ports.local import LocalDriver
from conformance.trial import Trial, on_trial
from stagec.runtime.drivers.dbos import migrate, open_database

Make = Callable[[Path], Driver]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let each test judge each driver."""
    if "driver" in metafunc.fixturenames:
        named = metafunc.config.getoption("--driver")
        drivers = named or ["dbos-postgres", "dbos-fan-out", "dbos-sqlite", "local"]
        needed = {each: [pytest.mark.needs("postgres")] for each in ("dbos-postgres", "dbos-fan-out")}
        given = [pytest.param(each, marks=needed.get(each, [])) for each in drivers]
        metafunc.parametrize("driver", given, indirect=True)


@pytest.fixture(scope="session")
def migrated(postgres_server: Postgres) -> str:
    """Return the name of a database that has its tables, and no runs."""
    url = postgres_server.create_database()
    database = open_database(url)
    migrate(database)
    database.close()
    return url.rpartition("/")[2]


@pytest.fixture
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    """Make a driver in a folder of its own."""
    folder = tmp_path / "driver"
    folder.mkdir()
    if request.param == "local":
        made: Driver = LocalDriver(folder)
    elif request.param == "dbos-sqlite":
        made = DbosDriver(folder, f"sqlite:///{folder}/runs.sqlite")
    elif request.param in {"dbos-postgres", "dbos-fan-out"}:
        url = request.getfixturevalue("postgres_server").create_database(template=request.getfixturevalue("migrated"))
        made = DbosDriver(folder, url, ("--fan-out",) if request.param == "dbos-fan-out" else ())
    else:
        module, _, name = request.param.partition(":")
        made = getattr(import_module(module), name)(folder)
    yield made
    made.close()


@pytest.fixture
def trial(driver: Driver, tmp_path: Path) -> Iterator[Trial]:
    """Put the driver on trial."""
    with on_trial(driver, tmp_path) as made:
        yield made
