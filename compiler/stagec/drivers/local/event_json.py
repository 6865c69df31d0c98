"""Events as JSON, the way journals hold them."""

from __future__ import annotations

import json

from stagec.core.json import Json, object_of
from stagec.runtime.exchange import Answered, Cancelled, Event, Started

_ENCODE = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
"""Everything but ASCII is escaped, so that half a character, which no file can hold, comes back as it was."""


def key_of(event: Event) -> str:
    """Return the key under which an event can be in a journal once."""
    match event:
        case Answered():
            return event.key
        case Started():
            return "start"
        case Cancelled():
            return "cancel"


def event_to_json(event: Event) -> Json:
    """Return an event as a JSON value."""
    match event:
        case Answered():
            return {"is": "answered", "key": event.key, "answer": event.answer}
        case Started():
            return {"is": "started", "run": event.run, "entry": event.entry, "inputs": event.inputs}
        case Cancelled():
            return {"is": "cancelled", "reason": event.reason}


_SHALLOW = 500
"""Brackets with which no text is nested too deeply to be read."""


def dump_event(event: Event) -> str:
    """Return an event as JSON that can be read; raise `TypeError` or `ValueError` for an answer that is none."""
    try:
        body = _ENCODE(event_to_json(event))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if body.count("[") + body.count("{") > _SHALLOW:
        load_event(body)
    return body


def load_event(text: str) -> Event:
    """Return the event that was written as a text; raise `TypeError` or `ValueError` for any other text."""
    try:
        given = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    match given:
        case {"is": "answered", "key": str(key), "answer": answer}:
            return Answered(key, answer)
        case {"is": "started", "run": str(run), "entry": str() | None as entry, "inputs": dict(inputs)}:
            return Started(run, entry, object_of(inputs))
        case {"is": "cancelled", "reason": str(reason)}:
            return Cancelled(reason)
        case _:
            raise ValueError("it is no event")
