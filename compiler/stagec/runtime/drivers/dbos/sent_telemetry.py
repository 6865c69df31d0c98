"""How much telemetry of a run has been sent: whoever executes it next sends the rest."""

from __future__ import annotations

import json

import sqlalchemy as sa

from stagec.runtime.drivers.dbos.run_store import RunStore
from stagec.runtime.drivers.dbos.tables import messages

_SENT = "telemetry"
"""The name of its row, among the signals of a run."""


def read_sent(store: RunStore, run: str) -> int:
    """Return of how many events of a run telemetry has been sent."""
    with store.database.transact() as connection:
        return _read(connection, run)


def note_sent(store: RunStore, run: str, count: int) -> None:
    """Remember of how many events of a run telemetry has been sent."""
    with store.database.transact() as connection:
        if _read(connection, run) < count:
            now = connection.execute(sa.select(store.database.now)).scalar_one()
            connection.execute(messages.delete().where(messages.c.run == run, messages.c.name == _SENT))
            row = {"run": run, "name": _SENT, "body": json.dumps({"sent": count}), "sent_at": now}
            connection.execute(store.insert(messages).on_conflict_do_nothing(), [row])


def _read(connection: sa.Connection, run: str) -> int:
    query = sa.select(messages.c.body).where(messages.c.run == run, messages.c.name == _SENT)
    body = connection.execute(query).scalar()
    found = 0 if body is None else json.loads(body)["sent"]
    return found if isinstance(found, int) else 0
