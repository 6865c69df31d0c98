"""What the driver takes for granted of the engine beside its public interface, for whoever raises its version."""

from __future__ import annotations

import sqlalchemy as sa
from in_databases import submission, submit

from stagec.runtime.drivers.dbos import RunStore
from stagec.runtime.drivers.dbos.database import steps, workflows
from stagec.runtime.drivers.dbos.worker import put_back

CHANGED = "the library has changed: read its release notes, and then 'drivers/dbos/worker.py' and 'tables.py'"
OF_ROW = {"workflow_uuid", "creator_xid", "updated_at", "created_at"}
"""What no two rows have alike."""


def test_the_tables_of_the_engine_have_the_columns_that_are_read(runs: RunStore) -> None:
    schema = None if runs.database.is_sqlite else "dbos"
    with runs.database.transact() as connection:
        for table in (steps, workflows):
            found = {each["name"] for each in sa.inspect(connection).get_columns(table.name, schema)}
            assert {each.name for each in table.columns} <= found, CHANGED


def test_work_is_put_back_as_the_engine_itself_puts_it_back(runs: RunStore) -> None:
    submit(runs, submission("ours"), submission("theirs"))
    taken = {"status": "PENDING", "executor_id": "dead", "owner_xid": "nobody", "started_at_epoch_ms": 1}
    with runs.database.transact() as connection:
        connection.execute(workflows.update().values(taken))
    recover = getattr(runs.queues.client._sys_db, "reenqueue_for_recovery", None)
    assert recover is not None, CHANGED
    assert recover("theirs/0", ["another"], "any") is False, CHANGED
    assert recover("theirs/0", ["dead"], "any") is True, CHANGED
    with runs.database.transact() as connection:
        assert put_back(connection, workflows.c.executor_id == "another") == 0
        assert put_back(connection, workflows.c.workflow_uuid == "ours/0") == 1
        every = sa.select(sa.text("*")).select_from(workflows).order_by(workflows.c.workflow_uuid)
        ours, theirs = (dict(row) for row in connection.execute(every).mappings())
    differing = {name for name in ours if ours[name] != theirs[name]} - OF_ROW
    assert differing == set(), CHANGED


def test_the_statuses_are_those_of_the_engine() -> None:
    from dbos import WorkflowStatusString

    named = {"PENDING", "ENQUEUED", "DELAYED", "SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}
    assert named <= {each.value for each in WorkflowStatusString}, CHANGED
