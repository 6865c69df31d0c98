"""Messages to runs: answers of people, and who wants a run to pause or to end."""

from __future__ import annotations

import json
import os
import re
from enum import StrEnum
from hashlib import sha256
from typing import Any

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.drivers.history import list_branch
from stagec.runtime.drivers.replay import fold_events
from stagec.runtime.machine import Answered, Event, Program
from stagec.runtime.world.questions import AskedOfPeople, is_decision, is_for_people

FORMAT = "stagec.message/1"
LARGEST = 65_536
"""Bytes of a message; longer ones are not read."""
_ID = re.compile(r"[0-9a-f]{32}")
_BY = re.compile(r"[a-z][a-z0-9 -]{0,39}")


class MessageKind(StrEnum):
    """The purpose of a message."""

    ANSWER = "answer"
    PAUSE = "pause"
    CANCEL = "cancel"


@value
class RunMessage:
    """A message: `by` says who sends it, `id` tells it from every other. Answers have the key of a request."""

    kind: MessageKind
    by: str
    id: str
    key: str = ""
    answer: Json = None

    @property
    def name(self) -> str:
        """The name of its file."""
        return name_answer(self.key) if self.kind is MessageKind.ANSWER else str(self.kind)


def write_message(kind: MessageKind, by: str, key: str = "", answer: Json = None) -> RunMessage:
    """Return a message that differs from all others."""
    return RunMessage(kind, by, os.urandom(16).hex(), key, answer)


def name_answer(key: str) -> str:
    """Return the name of the file that answers the request of a key."""
    return f"answer-{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


class OtherAnswerError(Exception):
    """Another answer came first: `answer` counts, and `by` names its author, if known."""

    def __init__(self, answer: Json, by: str) -> None:
        super().__init__("another answer came first")
        self.answer, self.by = answer, by


def find_asked(program: Program, events: tuple[Event, ...], key: str) -> AskedOfPeople:
    """Return the request of a key, if it waits for people; raise `OtherAnswerError`, or `Failure` for any other key."""
    for event in (events[seq] for seq in list_branch(events)):
        if isinstance(event, Answered) and event.key == key and is_decision(event.answer):
            raise OtherAnswerError(event.answer, text_in(object_of(event.answer), "by") or "")
    state = fold_events(program, events)
    effect = state.pending.get(key)
    if state.ended is not None or not is_for_people(effect):
        raise Failure(f"no question has the key {quote(key)}")
    return effect


def is_answer_of(event: Event, message: RunMessage) -> bool:
    """Tell whether an event is the answer of a message."""
    return isinstance(event, Answered) and object_of(event.answer).get("message") == message.id


def message_to_json(message: RunMessage) -> Object:
    """Return a message as it is kept."""
    told: dict[str, Json] = {"format": FORMAT, "kind": message.kind, "by": message.by, "id": message.id}
    return {**told, "key": message.key, "answer": message.answer} if message.kind is MessageKind.ANSWER else told


def parse_message(data: bytes) -> RunMessage | None:
    """Return the message in some bytes, which may be anybody's."""
    try:
        given: Any = json.loads(data) if len(data) <= LARGEST else None
    except (ValueError, RecursionError):
        return None
    match given:
        case {"format": "stagec.message/1", "kind": "answer", "by": str(by), "id": str(id_), "key": str(key)}:
            found = RunMessage(MessageKind.ANSWER, by, id_, key, given.get("answer"))
        case {"format": "stagec.message/1", "kind": "pause" | "cancel" as kind, "by": str(by), "id": str(id_)}:
            found = RunMessage(MessageKind(kind), by, id_)
        case _:
            return None
    return found if _BY.fullmatch(found.by) and _ID.fullmatch(found.id) else None
