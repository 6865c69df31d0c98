"""The servers of PostgreSQL that tests start: shared or their own, and gone when nobody needs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import postgres
import pytest
from postgres import Postgres

pytestmark = pytest.mark.needs("postgres")
TESTS = Path(__file__).parent
HOLDER = """\
import sys, time
import postgres
with postgres.open_shared(sys.argv[1]) as server:
    server.execute("CREATE DATABASE d" + sys.argv[2])
    print(server.folder, flush=True)
    time.sleep(600)
"""


def test_each_test_has_a_database_of_its_own(postgres_server: Postgres, database: str) -> None:
    name = database.rpartition("/")[2]
    postgres_server.execute("CREATE TABLE t AS SELECT 1 AS a", name)
    copy = postgres_server.create_database(template=name).rpartition("/")[2]
    assert postgres_server.execute("SELECT a FROM t", copy) == [(1,)]
    assert postgres_server.execute("SELECT to_regclass('t')", postgres_server.create_database().rpartition("/")[2]) == [
        (None,)
    ]


def test_what_was_committed_survives_a_crash_of_the_server() -> None:
    with postgres.open_own() as server:
        server.execute("CREATE TABLE t AS SELECT 1 AS a")
        server.stop("immediate")
        assert not server.is_running()
        server.start()
        assert server.execute("SELECT a FROM t") == [(1,)]
    assert not server.folder.exists()


def test_connections_are_cut(postgres_server: Postgres) -> None:
    psycopg = pytest.importorskip("psycopg")
    with postgres.open_own() as server, psycopg.connect(server.url()) as connection:
        assert server.cut_connections() == 1
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert postgres_server.is_running()


def hold(session: str, name: str) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that holds a shared server."""
    words = [sys.executable, "-c", HOLDER, session, name]
    holder = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(TESTS)}, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    return holder, Path(holder.stdout.readline().strip())


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    assert is_so()


def test_the_server_goes_with_the_last_process_that_holds_it_however_that_ends() -> None:
    session = f"test-{os.getpid()}"
    both = [hold(session, "1"), hold(session, "2")]
    folder = both[0][1]
    assert both[1][1] == folder
    for (holder, _), number in zip(both, (signal.SIGKILL, signal.SIGINT), strict=True):
        assert Postgres(folder).execute("SELECT count(*) FROM pg_database WHERE datname IN ('d1', 'd2')") == [(2,)]
        holder.send_signal(number)
        holder.communicate()
    wait_until(lambda: not folder.exists() and not folder.with_name(f"{folder.name}.lock").exists())
    holder, again = hold(session, "1")  # the name is free again
    assert again == folder
    holder.kill()
    holder.communicate()
    wait_until(lambda: not folder.exists())
