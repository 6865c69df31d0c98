"""Handoffs of Copilot's agents: which entries VS Code drops, and to whom the others lead."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json, kind_of
from stagec.core.place import Mention, Place
from stagec.core.value import value

REQUIRED = ("label", "agent", "prompt")


@value
class DroppedHandoff:
    """An entry that is dropped: the keys that it lacks as texts, or what it is instead of a map."""

    at: Place
    missing: tuple[str, ...] = ()
    kind: str = ""


def find_dropped_handoffs(given: Json, at: Place) -> Iterator[DroppedHandoff]:
    """Yield the entries of a list of handoffs that are dropped."""
    for index, entry in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(entry, dict):
            yield DroppedHandoff(at / index, kind=kind_of(entry))
        else:
            missing = tuple(key for key in REQUIRED if not isinstance(entry.get(key), str))
            if missing:
                yield DroppedHandoff(at / index, missing)


def list_handoff_targets(given: Json, at: Place) -> Iterator[Mention]:
    """Yield the agents that handoffs lead to."""
    for index, entry in enumerate(given if isinstance(given, list) else ()):
        target = entry.get("agent") if isinstance(entry, dict) else None
        if isinstance(target, str):
            yield Mention(target, at / index / "agent")
