"""Connections that the server has closed: pinged after a while without use, and not used again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from stagec.core.failure import Failure
from stagec.runtime.drivers.dbos import Database, open_database
from stagec.runtime.drivers.dbos import database as module
from stagec.runtime.drivers.following import UnreachableError

ANSWER = sa.text("SELECT 1")
CUT = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


@pytest.fixture
def reached(database: str) -> Iterator[Database]:
    """Return a database of PostgreSQL to which there is one connection, in use before."""
    found = open_database(database, 1)
    ask(found)
    yield found
    found.close()


def ask(database: Database) -> None:
    for use in (database.transact, database.ask_once):
        with use() as connection:
            assert connection.execute(ANSWER).scalar_one() == 1


def cut(database: Database) -> None:
    """Let the server close the connections of a database, as a restart does."""
    other = open_database(database.url, 1)
    with other.transact() as connection:
        connection.execute(CUT)
    other.close()


def test_a_connection_that_was_closed_while_it_was_idle_is_replaced(
    reached: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.0)
    for _ in range(3):
        cut(reached)
        ask(reached)


def test_one_that_was_used_a_moment_ago_fails_once(reached: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 600.0)
    cut(reached)
    with pytest.raises(UnreachableError):
        ask(reached)
    ask(reached)


def test_one_statement_needs_no_words_around_it(reached: Database) -> None:
    with reached.ask_once() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        assert driver.autocommit
    with reached.transact() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        assert not driver.autocommit


@pytest.mark.parametrize("name", ["password", "sslpassword"])
def test_a_password_among_the_parameters_of_an_address_is_not_shown(name: str) -> None:
    opened = open_database(f"postgresql://127.0.0.1:1/runs?{name}=hunter2secret&sslmode=disable")
    assert "hunter2secret" not in opened.name
    assert "sslmode=disable" in opened.name
    with pytest.raises(Failure) as caught, opened.transact():
        pass
    assert "hunter2secret" not in str(caught.value)
