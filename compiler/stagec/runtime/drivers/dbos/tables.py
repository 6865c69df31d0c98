"""The tables of a database of runs, beside those of the engine."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA = "stagec"
"""The schema of the tables; files have none."""
VERSION = 4
"""The version of the tables; whoever changes them raises it, and says in `database.migrate` how to come there."""
METADATA = sa.MetaData(schema=SCHEMA)
ENGINE_SCHEMA = "dbos"
"""The schema of the tables of the engine, which it makes and documents."""
_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

schema_version = sa.Table("schema_version", METADATA, sa.Column("version", sa.Integer, nullable=False))
documents = sa.Table(
    "documents",
    METADATA,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Plans and scenarios, each once, under the digest of its bytes."""
runs = sa.Table(
    "runs",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("entry", sa.Text),
    sa.Column("inputs", sa.Text, nullable=False),
    sa.Column("scenario", sa.Text),
    sa.Column("signature", sa.Text),
    sa.Column("prologue", sa.Text),
    sa.Column("phase", sa.Text, nullable=False),
    sa.Column("segment", sa.Integer, nullable=False),
    sa.Column("refusals", sa.Integer, nullable=False),
    sa.Column("wake_at", _Number),
    sa.Column("due", sa.Text, nullable=False),
    sa.Column("created_at", _Number, nullable=False),
    sa.Column("ended_at", _Number),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("machine", sa.Integer, nullable=False, server_default="1"),
    sa.Index(
        "runs_to_wake",
        "wake_at",
        sqlite_where=sa.text("wake_at IS NOT NULL"),
        postgresql_where=sa.text("wake_at IS NOT NULL"),
    ),
    sa.Index("runs_by_phase", "phase", "ended_at"),
)
"""One row for each run: what it was begun with, which segment it is in, and how it stands when no segment is under way.

`prologue` is the document of what happened elsewhere, before the run was taken over. `due` has the times at which waits
are over, by key. `summary` is what lists show, as JSON. `digest` is the step digest of the last of the `events` that
`summary` counts: a segment may have recorded more, and failed then. `machine` is the version of the machine with which
the run began; tables had no such column before version 3. Times are milliseconds since 1970 by the clock of
the database.
"""
messages = sa.Table(
    "messages",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("sent_at", _Number, nullable=False),
)
"""Signals: of each name the first counts. `body` is a message as the local driver has it in a file."""
schedules = sa.Table(
    "schedules",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("cron", sa.Text, nullable=False),
    sa.Column("time_zone", sa.Text, nullable=False),
    sa.Column("catch_up", sa.Text, nullable=False),
    sa.Column("is_paused", sa.Boolean, nullable=False),
    sa.Column("next_at", _Number, nullable=False),
    sa.Column("last_run", sa.Text),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("plan_body", sa.LargeBinary, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("entry", sa.Text),
    sa.Column("inputs", sa.Text, nullable=False),
    sa.Column("scenario", sa.Text),
    sa.Column("signature", sa.Text),
)
"""One row for each schedule: its times, and what its runs begin with. `next_at` is the first time that nobody has
served: whoever starts a run moves it in the same transaction, so no time is served twice. Plan and scenario are here,
because a worker of version 3 may still work, and removes the documents that no run has."""
workers = sa.Table(
    "workers",
    METADATA,
    sa.Column("worker", sa.Text, primary_key=True),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("beats", _Number, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("begun_at", _Number, nullable=False),
    sa.Column("is_draining", sa.Boolean, nullable=False),
)
"""One row for each worker that lives; `beats` goes up as long as it does."""
provider_limits = sa.Table(
    "provider_limits",
    METADATA,
    sa.Column("provider", sa.Text, primary_key=True),
    sa.Column("concurrency", sa.Integer),
    sa.Column("begins", sa.Integer),
    sa.Column("seconds", sa.Float, nullable=False),
)
"""How many requests to a provider of models may be under way, and how many may begin in so many seconds."""
permits = sa.Table(
    "permits",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("worker", sa.Text, nullable=False),
    sa.Column("asked_at", _Number, nullable=False),
    sa.Column("begun_at", _Number),
    sa.Column("ended_at", _Number),
    sa.Index("permits_by_provider", "provider", "begun_at", "asked_at"),
    sa.Index("permits_by_worker", "worker", "ended_at"),
)
"""One row for each request to a provider with limits: it waits, is under way, or has begun in the window of a rate."""


_ENGINE = sa.MetaData(schema=ENGINE_SCHEMA)

steps = sa.Table(
    "operation_outputs",
    _ENGINE,
    sa.Column("workflow_uuid", sa.Text),
    sa.Column("function_id", sa.Integer),
    sa.Column("output", sa.Text),
)
"""What the engine records of each step."""
workflows = sa.Table(
    "workflow_status",
    _ENGINE,
    sa.Column("workflow_uuid", sa.Text),
    sa.Column("name", sa.Text),
    sa.Column("status", sa.Text),
    sa.Column("queue_name", sa.Text),
    sa.Column("application_name", sa.Text),
    sa.Column("executor_id", sa.Text),
    sa.Column("owner_xid", sa.Text),
    sa.Column("started_at_epoch_ms", sa.BigInteger),
    sa.Column("updated_at", sa.BigInteger),
    sa.Column("completed_at", sa.BigInteger),
)
"""What the engine knows of each segment, and of each request that is a workflow of its own."""
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")
"""What the engine calls workflows that are not over."""
queues = sa.Table("queues", _ENGINE, sa.Column("name", sa.Text))
"""What the engine knows of each queue."""
