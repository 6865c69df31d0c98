"""What a journal holds, the digests that chain it together, and why one cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from hashlib import sha256

from stagec.core.value import NOTHING, value
from stagec.runtime.exchange import Event


class Reason(StrEnum):
    """Why a journal cannot be used, in a word."""

    MISSING = "missing"
    TAKEN = "taken"
    BUSY = "running"
    EMPTY = "not begun"
    DAMAGED = "damaged"
    UNUSABLE = "unusable"


class JournalError(Exception):
    """A journal that cannot be used.

    `str()` says why, in a sentence without a full stop.
    """

    def __init__(self, reason: Reason, told: str) -> None:
        super().__init__(told)
        self.reason = reason


@value
class History:
    """What a journal holds: the plan's file and its digest, the events in order, and beside each what followed.

    `facts` are whatever was put beside the plan when the run began. A mark is empty where nobody made one.
    """

    plan: bytes
    digest: str
    events: tuple[Event, ...] = ()
    marks: tuple[str, ...] = ()
    facts: Mapping[str, str] = NOTHING


def seed(facts: Mapping[str, str | bytes]) -> str:
    """Return the digest with which the chain of the events begins: that of all facts."""
    found = sha256()
    for name, given in sorted(facts.items()):
        data = given.encode() if isinstance(given, str) else given
        found.update(f"{len(name.encode())} {name} {len(data)} ".encode())
        found.update(data)
    return found.hexdigest()


def chained(last: str, seq: int, texts: Iterable[str]) -> str:
    """Return the digest of an event and of the one before it."""
    return sha256("\n".join((last, str(seq), *texts)).encode()).hexdigest()
