"""Answers that can be kept: what in an answer of a world is no JSON gives way to its place and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.json_reader import UnreadableError, find_unreadable, mend_text
from stagec.runtime.exchange import Ask, Call, Effect, Run, Shell, Turn
from stagec.runtime.orchestrator_requests import Dispatch

UNREADABLE = "unreadable"
"""The member of an answer, or of a call in it, that says why there is no answer, or why there are no arguments."""
FINISH = "finish"
"""The member of an answer of a model that says why its response is not whole."""
_FINISHES = {
    "length": "the response ended at its maximum length (length)",
    "content_filter": "the provider withheld the response (content_filter)",
}
_CALLS, _ARGUMENTS = 2, 3
"""How many lists and objects of an answer a call lies in, and its arguments."""


def read_finish(answer: Mapping[str, Json]) -> str | None:
    """Return why the response of a model is not whole, a word of few; None for a whole one."""
    told = answer.get(FINISH)
    return told if isinstance(told, str) and told in _FINISHES else None


def explain_finish(answer: Mapping[str, Json]) -> str | None:
    """Return why the response of a model is not whole, in a sentence without a full stop; None for a whole one."""
    told = read_finish(answer)
    return None if told is None else _FINISHES[told]


def name_finish(explained: str | None) -> str | None:
    """Return the word for why a response is not whole, from the sentence of `explain_finish`."""
    return next((word for word, sentence in _FINISHES.items() if sentence == explained), None)


def explain_absence(answer: Mapping[str, Json]) -> str | None:
    """Return why there is no answer in what a model has said, None where it has not said that."""
    why = answer.get(UNREADABLE)
    parts = (f"the answer cannot be read: {why}" if isinstance(why, str) else None, explain_finish(answer))
    return "; ".join(filter(None, parts)) or None


def read_answer(effect: Effect, answer: Any) -> Json:
    """Return an answer as it is if it is JSON, else the answer that it counts as, which says what cannot be read."""
    found = find_unreadable(answer)
    if found is None:
        readable: Json = answer
        return readable
    if isinstance(answer, dict) and isinstance(effect, Ask | Turn):
        mended = dict(_mend_members(effect, answer))
        if find_unreadable(mended) is None:
            return mended
    return refuse_answer(effect, str(found))


def refuse_answer(effect: Effect, why: str) -> Json:
    """Return the answer to a request that nobody has answered in a readable form, and why."""
    match effect:
        case Ask():
            return {UNREADABLE: why}
        case Turn():
            return {"text": "", "calls": [{UNREADABLE: why}]}
        case Call():
            message = f"the result cannot be read: {why}"
            return {"error": {"class": "Tool", "code": "Unreadable", "message": message}}
        case Run() | Shell():
            return {"exit": None, "stdout": "", "stderr": f"the answer cannot be read: {why}"}
        case Dispatch():
            return {"failed": f"the answer cannot be read: {why}"}
        case _:
            return {"error": f"the answer cannot be read: {why}"}


def _mend_members(effect: Ask | Turn, answer: Mapping[Any, Any]) -> Any:
    """Yield the members of an answer of a model that can be kept; what is no JSON in its texts becomes `?`."""
    for name, each in answer.items():
        if not isinstance(name, str) or find_unreadable(name) is not None:
            continue
        if isinstance(each, str):
            yield name, mend_text(each)
        elif isinstance(effect, Turn) and name == "calls" and isinstance(each, list | tuple):
            yield name, [_mend_call(call) for call in each]
        elif (why := find_unreadable(each, 1)) is None:
            yield name, each
        elif isinstance(effect, Ask) and name == "answer":
            yield UNREADABLE, str(why)


def _mend_call(given: Any) -> Json:
    """Return a call whose id and tool can be kept; of arguments that are no JSON only the reason is left."""
    if not isinstance(given, dict):
        found = find_unreadable(given, _CALLS)
        return {} if found is None else {UNREADABLE: str(found)}
    told: dict[str, Json] = {
        name: mend_text(given[name]) for name in ("id", "tool", UNREADABLE) if isinstance(given.get(name), str)
    }
    arguments = given.get("arguments")
    why: UnreadableError | None = find_unreadable(arguments, _ARGUMENTS)
    if isinstance(arguments, str):
        return {**told, "arguments": mend_text(arguments)}
    return {**told, "arguments": arguments} if why is None else {**told, UNREADABLE: str(why)}
