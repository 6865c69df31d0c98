"""Remove secrets from events before they are written: the machine sees what the journal holds."""

from __future__ import annotations

import json

from stagec.core.json import Json, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.runtime.machine.exchange import (
    Answered,
    Call,
    Cancelled,
    Effect,
    Event,
    Replanned,
    Resumed,
    Rewound,
    Run,
    Shell,
    Started,
    whole_key,
)

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def redact_answer(redactor: Redactor, answer: Json, effect: Effect | None) -> Json:
    """Return an answer without secrets."""
    is_output = isinstance(effect, Call | Run | Shell) or "error" in object_of(answer)
    return redact_value(redactor, answer, is_output=is_output)


def redact_event(redactor: Redactor, event: Event, effect: Effect | None = None) -> Event:
    """Return an event without secrets; `effect` is the request that it answers, if it answers one.

    Keys, and the names of entries and stages, stay what they are: they are the plan's own.
    """
    match event:
        case Answered():
            if whole_key(event.key) is not None:
                is_result = "result" in object_of(event.answer)
                return replace(event, answer=redact_value(redactor, event.answer, is_output=is_result))
            return replace(event, answer=redact_answer(redactor, event.answer, effect))
        case Started():
            return replace(event, inputs=object_of(redact_value(redactor, dict(event.inputs))))
        case Cancelled():
            return Cancelled(redactor.redact_output(event.reason))
        case Replanned():
            return replace(event, inputs=object_of(redact_value(redactor, dict(event.inputs))))
        case Resumed() | Rewound():
            return event


def redact_value(redactor: Redactor, given: Json, *, is_output: bool = False) -> Json:
    """Return a value without secrets; one that is no JSON as it is, because no journal takes it."""
    try:
        text = _ENCODE(given)
        told = redactor.redact_json(text, is_output=is_output)
        cleaned: Json = given if told == text else json.loads(told)
    except (TypeError, ValueError, RecursionError):
        return given
    return cleaned
