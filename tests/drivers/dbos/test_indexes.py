"""With many runs that have ended or wait, a worker repeats no statement that reads many rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_until, working
from playable import judged

from stagec.runtime.drivers.dbos import RunPhase, RunStore, migrate, open_database
from stagec.runtime.drivers.dbos.database import runs as rows
from stagec.runtime.world.questions import list_open_questions

MANY = 20_000
MOST = 200
"""Rows that a statement may read: as many as a worker wakes at one look, and some more."""


@pytest.fixture
def runs(database: str) -> Iterator[RunStore]:
    """Return the runs of a server, of which very many have ended or wait for a time."""
    opened = open_database(database, 8)
    migrate(opened)
    store = RunStore(opened)
    submit(store, submission("one"))
    with working(opened, ScriptedTestWorld()):
        wait_until(store, "one", RunPhase.DONE)
    with opened.transact() as connection:
        _multiply(connection, "stagec", "runs", "run", "")
        _multiply(connection, "dbos", "workflow_status", "workflow_uuid", "/0")
        _multiply(connection, "dbos", "operation_outputs", "workflow_uuid", "/0")
        does_wait = rows.c.run.like("run-%5") | rows.c.run.like("run-%7")
        later = {
            "phase": RunPhase.WAITING,
            "ended_at": None,
            "wake_at": opened.now + 1_000_000 + rows.c.created_at % 997,
        }
        connection.execute(rows.update().where(does_wait).values(later))
    with opened.ask_once() as connection:
        connection.exec_driver_sql("ANALYZE")
    yield store
    opened.close()


def _multiply(connection: sa.Connection, schema: str, table: str, key: str, end: str) -> None:
    """Copy the rows of the run that has ended, under the names of others."""
    columns = [each["name"] for each in sa.inspect(connection).get_columns(table, schema)]
    named = ", ".join(columns)
    told = ", ".join(f"'run-' || number || '{end}'" if each == key else each for each in columns)
    source = f"{schema}.{table}, generate_series(1, {MANY}) number"
    connection.exec_driver_sql(f"INSERT INTO {schema}.{table} ({named}) SELECT {told} FROM {source}")  # noqa: S608


@contextmanager
def listening(engine: sa.Engine) -> Iterator[dict[str, Any]]:
    """Collect the statements that are executed meanwhile, each with its last parameters."""
    heard: dict[str, Any] = {}

    def hear(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        heard[statement] = parameters

    sa.event.listen(engine, "before_cursor_execute", hear)
    try:
        yield heard
    finally:
        sa.event.remove(engine, "before_cursor_execute", hear)


def count_read(plan: Any) -> int:
    """Return how many rows the server has read for a statement, at the step of its plan that reads most."""
    own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return max((own, *map(count_read, plan.get("Plans", ()))))


def test_no_statement_of_a_worker_reads_many_rows(runs: RunStore) -> None:
    with listening(runs.database.engine) as heard:
        submit(runs, submission("two"), submission("three", judged()), submission("four", delay=1_000))
        with working(runs.database, ScriptedTestWorld()) as worker:
            waiting = wait_until(runs, "three", RunPhase.WAITING)
            program, state = runs.fold(waiting)
            (question,) = list_open_questions(program, state.pending.values())
            transitions(runs).send_answer("three", question.key, yes=True, by="me")
            for each in ("two", "three", "four"):
                wait_until(runs, each, RunPhase.DONE)
            worker._put_back_lost()
    read: dict[str, int] = {}
    with runs.database.engine.connect() as connection:  # what is executed again here is never committed
        for statement, parameters in heard.items():
            if statement.split(None, 1)[0] in {"SELECT", "UPDATE", "DELETE"}:
                told = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
                (found,) = connection.exec_driver_sql(told, parameters).scalar_one()
                read[statement] = count_read(found["Plan"])
    assert len(read) > 20
    assert not [(statement, count) for statement, count in read.items() if count > MOST]
