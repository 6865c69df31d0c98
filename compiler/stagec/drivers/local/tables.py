"""The tables of a journal, and what is in them; nothing is believed that is not as it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from stagec.core.value import value
from stagec.drivers.local.events import key_of, read
from stagec.drivers.local.history import History, JournalError, Reason, chained, seed
from stagec.plan.frame import unframed
from stagec.plan.trouble import PlanError
from stagec.runtime.exchange import Event

VERSION = 2
"""The version of the tables; a file of another one is refused."""
_APPLICATION = 0x53544743
"""`STGC`: what the header of the file says that it is."""
_FACTS = "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_EVENTS = (
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT NOT NULL, body TEXT NOT NULL, "
    "mark TEXT NOT NULL, chain TEXT NOT NULL)"
)
"""A row has an event and the mark of the event before, which is worked out while that is written."""
SEAL = ("end", "")
"""Key and body of the last row of a run that has ended: there is a mark in it, and no event."""
SHAPE = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
    "DROP TABLE IF EXISTS facts",
    "DROP TABLE IF EXISTS events",
    _FACTS,
    _EVENTS,
)
"""What makes an empty file, or the journal of a run that never began, a journal; all of it in one transaction."""


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Refuse a database of somebody else's, before anything in it is changed."""
    ((application,),) = connection.execute("PRAGMA application_id")
    if application != _APPLICATION and _tables(connection):
        raise JournalError(Reason.DAMAGED, "it is no journal")


def begun(connection: sqlite3.Connection) -> bool:
    """Tell whether a file holds anything but a journal without events."""
    if not _tables(connection):
        return False
    _look(connection)
    return connection.execute("SELECT 1 FROM events LIMIT 1").fetchone() is not None


def read_history(connection: sqlite3.Connection) -> tuple[History, str]:
    """Return the history in a file, and the digest of its last event; raise `JournalError` for what is no history."""
    if not _tables(connection):
        raise JournalError(Reason.EMPTY, "it never began: its journal is empty")
    _look(connection)
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    plan, digest = facts.get("plan"), facts.get("digest")
    if not isinstance(plan, bytes) or not isinstance(digest, str) or _name_of(plan) != digest:
        raise JournalError(Reason.DAMAGED, "its journal is damaged: its plan is not what was written")
    others = {name: given for name, given in facts.items() if name not in {"plan", "digest"}}
    if not all(isinstance(each, str) for named in others.items() for each in named):
        raise JournalError(Reason.DAMAGED, "its journal is damaged: what is kept beside its plan is no text")
    last = seed(facts)
    found = tuple(_entries(connection, last))
    events = tuple(each.event for each in found if each.event is not None)
    if len({key_of(each) for each in events}) < len(events):
        raise JournalError(Reason.DAMAGED, "its journal is damaged: an event is in it twice")
    marks = (*(each.mark for each in found[1:]), "")[: len(events)]
    return History(plan, digest, events, marks, others), found[-1].chain if found else last


def _tables(connection: sqlite3.Connection) -> Mapping[str, str | None]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))


def _look(connection: sqlite3.Connection) -> None:
    """Refuse whatever has not the tables of a journal; a foreign file may hold anything under their names."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version != VERSION:
        told = f"its journal has version {version}, and this is a reader of version {VERSION}"
        raise JournalError(Reason.UNUSABLE, told)
    if _tables(connection) != {"facts": _FACTS, "events": _EVENTS}:
        raise JournalError(Reason.DAMAGED, "its journal is damaged: it has other tables")


def _name_of(plan: bytes) -> str | None:
    """Return the digest of a plan's file; nothing when its bytes have another one."""
    try:
        return unframed(plan)[0]
    except PlanError:
        return None


@value
class Entry:
    """One row: an event, None for the seal, what followed from the one before, and the digest of the chain."""

    event: Event | None
    mark: str
    chain: str


def _entries(connection: sqlite3.Connection, last: str) -> Iterator[Entry]:
    rows = connection.execute("SELECT seq, key, body, mark, chain FROM events ORDER BY seq")
    is_sealed = False
    for expected, (seq, key, body, mark, chain) in enumerate(rows):
        if seq != expected or is_sealed or not all(isinstance(each, str) for each in (key, body, mark)):
            raise JournalError(Reason.DAMAGED, f"its journal is damaged: event {expected} is not there")
        last, is_sealed = chained(last, seq, (key, body, mark)), (key, body) == SEAL
        event = None if is_sealed or chain != last else _event(key, body)
        if chain != last or (event is None) != is_sealed:
            raise JournalError(Reason.DAMAGED, f"its journal is damaged: event {expected} is not what was written")
        yield Entry(event, mark, last)


def _event(key: str, body: str) -> Event | None:
    try:
        event = read(body)
    except (TypeError, ValueError):
        return None
    return event if key_of(event) == key else None
