"""A database of runs: its address, its connections and its tables, and whether they are those of this version."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure

try:  # whatever is imported of this package, this comes first
    import sqlalchemy as sa
    from dbos import DBOS
    from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
    from sqlalchemy.exc import TimeoutError as NoConnectionError
except ModuleNotFoundError as error:
    raise explain_missing_extra("runs in a database need", "dbos") from error

from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.drivers.following import UnreachableError

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
"""The engine's records of each step."""
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
"""The engine's records of each segment, and of each request that is a workflow of its own."""
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")
"""The engine's statuses of unfinished workflows."""
queues = sa.Table("queues", _ENGINE, sa.Column("name", sa.Text))
"""The engine's records of each queue."""


_KINDS = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg", "sqlite": "sqlite"}
"""The schemes of addresses, with the library for each."""
_KINDS |= {each: each for each in _KINDS.values()}
_PATIENCE = 10
"""Seconds in which a server must accept a connection."""
_FILE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
_SERVER_NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
_FILE_SCHEMAS = {SCHEMA: None, ENGINE_SCHEMA: None}
"""A file has no schemas."""
_IDLE = 60_000
"""Milliseconds after which the server ends a transaction in which nothing happens: a stopped worker holds no locks."""


_IDLE_SECONDS = 1.0
"""Seconds after which a connection that nobody used is pinged before it is used again."""
_SUBSECONDS = (3, 42)
"""The first SQLite whose `unixepoch` knows milliseconds."""


@sa.event.listens_for(sa.Engine, "connect")
def teach_milliseconds(connection: Any, _record: object) -> None:
    """Give an older SQLite the milliseconds that the tables of the engine ask for, whatever comes with a Python."""
    if hasattr(connection, "create_function"):  # a file, and no server
        (version,) = connection.execute("SELECT sqlite_version()").fetchone()
        if tuple(map(int, version.split("."))) < _SUBSECONDS:
            connection.create_function("unixepoch", 1, lambda _unit: round(time.time() * 1000) / 1000)


@value
class Database:
    """A database that can be reached; `name` says which one it is, without its password."""

    url: str
    engine: sa.Engine
    name: str

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of this machine."""
        return self.engine.dialect.name == "sqlite"

    @property
    def file(self) -> str | None:
        """The file that it is, None for a server."""
        return self.engine.url.database if self.is_sqlite else None

    @property
    def now(self) -> sa.ColumnElement[int]:
        """The time by its own clock, in milliseconds since 1970."""
        told = _FILE_NOW if self.is_sqlite else _SERVER_NOW
        return sa.literal_column(told, sa.BigInteger)

    @contextmanager
    def transact(self) -> Iterator[sa.Connection]:
        """Do the body as one transaction; raise `UnreachableError` when the database cannot be asked."""
        with self.ask(), self.engine.begin() as connection:
            yield connection.execution_options(schema_translate_map=_FILE_SCHEMAS) if self.is_sqlite else connection

    @contextmanager
    def ask_once(self) -> Iterator[sa.Connection]:
        """Execute one statement in autocommit mode, without round trips for BEGIN and COMMIT; raises as `transact`."""
        if self.is_sqlite:
            with self.transact() as connection:
                yield connection
        else:
            with self.ask(), self.engine.connect() as connection:
                yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def ask(self) -> Iterator[None]:
        """Raise `UnreachableError` when the body cannot ask the database, also if the engine asks in it."""
        try:
            yield
        except (DBAPIError, NoConnectionError) as error:
            raise UnreachableError(f"the database {self.name} cannot be used: {_explain(error)}") from error

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def open_database(url: str, connections: int = 5) -> Database:
    """Return the database at an address; nothing is asked of it yet. Raises `Failure` for what is no address."""
    logger = logging.getLogger("dbos")  # the engine speaks of errors alone, and to standard error alone
    logger.setLevel(logging.ERROR)
    logger.handlers = logger.handlers or [logging.StreamHandler(sys.stderr)]
    logger.propagate = False
    try:
        given = sa.make_url(url)
    except ArgumentError as error:
        told = "expected 'postgresql://USER@HOST/NAME' or 'sqlite:///FILE'"
        raise Failure(f"the address of the database is malformed: {told}") from error
    hidden = given.update_query_dict({each: "***" for each in given.query if "password" in each})
    name = quote(hidden.render_as_string(hide_password=True))
    if given.drivername not in _KINDS:
        raise Failure(
            f"{name} is not the address of a database for runs: the address begins with 'postgresql://' or 'sqlite://'"
        )
    address = given.set(drivername=_KINDS[given.drivername])
    engine = _open_file(address) if address.drivername == "sqlite" else _open_server(address, connections)
    return Database(given.render_as_string(hide_password=False), engine, name)


def _open_server(address: sa.URL, connections: int) -> sa.Engine:
    settings = {"connect_timeout": _PATIENCE, "options": f"-c idle_in_transaction_session_timeout={_IDLE}"}
    named = {"application_name": "stagec", **{each: settings[each] for each in settings if each not in address.query}}
    engine = sa.create_engine(address, connect_args=named, pool_size=connections, max_overflow=0, pool_timeout=30)
    _ping_idle(engine)
    return engine


def _ping_idle(engine: sa.Engine) -> None:
    """Ping a connection before it is used, if it was idle for a while: the server may have closed it.

    `pool_pre_ping` does this for every use, and doubles the round trips of a single statement.
    """

    @sa.event.listens_for(engine, "checkin")
    def check_in(_connection: object, record: Any) -> None:
        record.info["since"] = time.monotonic()

    @sa.event.listens_for(engine, "checkout")
    def check_out(connection: Any, record: Any, _proxy: object) -> None:
        if time.monotonic() - record.info.get("since", 0.0) > _IDLE_SECONDS and not _answers(engine, connection):
            raise DisconnectionError  # the pool opens another one


def _answers(engine: sa.Engine, connection: Any) -> bool:
    try:
        return engine.dialect.do_ping(connection)
    except engine.dialect.loaded_dbapi.Error:
        return False


def _open_file(address: sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(address)
    except ArgumentError as error:
        raise Failure(f"{quote(str(address))} names no file: write 'sqlite:///FILE', with three slashes") from error

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"  # who reads before writing would lose to whoever writes meanwhile
        for each in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {each}")

    return engine


def migrate(database: Database) -> None:
    """Make the tables of a database, or bring them to this version; raise `Failure` if that cannot be."""
    found = find_version(database)
    if found is not None and found > VERSION:
        raise _explain_newer(database, found)
    try:
        DBOS.migrate(database.url.replace("+psycopg", "").replace("postgres://", "postgresql://"))
    except Exception as error:  # the library wraps what a server says in errors of many classes
        raise Failure(f"the database {database.name} cannot be migrated: {_explain(error)}") from error
    with database.transact() as connection:
        if not database.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7245045)"))  # one migrates, others find it done
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
        METADATA.create_all(connection)
        schema, named = (None, runs.name) if database.is_sqlite else (SCHEMA, f"{SCHEMA}.{runs.name}")
        if all(each["name"] != "machine" for each in sa.inspect(connection).get_columns(runs.name, schema)):
            connection.execute(sa.text(f"ALTER TABLE {named} ADD COLUMN machine INTEGER NOT NULL DEFAULT 1"))
        if connection.execute(sa.select(schema_version.c.version)).scalar() is None:
            connection.execute(schema_version.insert().values(version=VERSION))
        connection.execute(schema_version.update().values(version=VERSION))  # what was added since is made above


def check(database: Database) -> None:
    """Raise `Failure` unless the tables of a database are those of this version."""
    found = find_version(database)
    if found is None:
        raise Failure(f"the database {database.name} holds no runs yet: 'stagec database migrate' creates its tables")
    if found > VERSION:
        raise _explain_newer(database, found)
    if found < VERSION:
        told = f"its tables have version {found}, and this stagec uses version {VERSION}"
        raise Failure(f"the database {database.name} is too old: {told}; 'stagec database migrate' updates them")


def find_version(database: Database) -> int | None:
    """Return the version of the tables of a database, None where there are none."""
    with database.transact() as connection:
        if not sa.inspect(connection).has_table("schema_version", None if database.is_sqlite else SCHEMA):
            return None
        return connection.execute(sa.select(schema_version.c.version)).scalar()


def _explain_newer(database: Database, found: int) -> Failure:
    told = f"its tables have version {found}, and this stagec uses version {VERSION}"
    return Failure(f"the database {database.name} needs a newer stagec: {told}")


def _explain(error: Exception) -> str:
    """Return the message of a database, on one line and without an address that may have a password."""
    told = str(getattr(error, "orig", None) or error)
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
