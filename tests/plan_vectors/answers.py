"""What the world answers, in the form in which it counts: whatever else is answered is nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any]

_DEEPEST = 128
_EXACT = 2**53
"""Up to here every whole number is a double."""


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _text(told: Mapping[str, Any], member: str) -> str:
    found = told.get(member)
    return found if isinstance(found, str) else ""


def _asked(told: Mapping[str, Any]) -> Answer:
    return {"answer": told.get("answer"), "text": _text(told, "text")}


def _turned(told: Mapping[str, Any]) -> Answer:
    calls = told.get("calls")
    return {"failed": "error" in told, "calls": [*map(_call, calls)] if isinstance(calls, list) else []}


def _call(given: Any) -> Answer:
    """Return a call; one without id has none, and is given one by whoever counts turns."""
    told = given if isinstance(given, dict) else {}
    arguments = told.get("arguments")
    return {"id": _text(told, "id"), "tool": _text(told, "tool"), "arguments": {} if arguments is None else arguments}


def _called(told: Mapping[str, Any]) -> Answer:
    return {"value": told["value"]} if "value" in told else {}


def _ran(told: Mapping[str, Any]) -> Answer:
    status = told.get("exit")
    return {
        "exit": int(status) if _whole(status) else None,
        "stdout": _text(told, "stdout"),
        "stderr": _text(told, "stderr"),
    }


def _whole(status: Any) -> bool:
    return type(status) is int or (type(status) is float and status.is_integer() and abs(status) <= _EXACT)


def _executed(told: Mapping[str, Any]) -> Answer:
    """Return how a process has ended, and the outputs that are told of as the page says."""
    exit_status, cause, outputs = told.get("exit"), told.get("interrupted"), told.get("outputs")
    return {
        "failed": told.get("error") is not None,
        "exit": int(exit_status) if _whole(exit_status) else None,
        "interrupted": cause if cause in ("timeout", "abort") else None,
        "status": told.get("status") if isinstance(told.get("status"), str) else None,
        **{name: told[name] if isinstance(told.get(name), list) else [] for name in ("missing", "changed")},
        "outputs": {name: each for name, each in outputs.items() if _told(each)} if isinstance(outputs, dict) else {},
    }


def _told(output: Any) -> bool:
    texts = isinstance(output, dict) and all(isinstance(output.get(name), str) for name in ("path", "sha256"))
    return texts and _whole(output.get("sizeBytes"))


def _affirmed(member: str) -> Callable[[Mapping[str, Any]], Answer]:
    return lambda told: {member: told.get(member) is True}


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = {
    "ask": _asked,
    "turn": _turned,
    "call": _called,
    "grant": _affirmed("granted"),
    "confirm": _affirmed("yes"),
    "wait": lambda _: {},
    "run": _ran,
    "shell": _ran,
    "judge": _affirmed("done"),
    "execute": _executed,
    "publish": lambda told: {"failed": told.get("error") is not None},
    "preserve": _affirmed("valid"),
    "interrupt": lambda _: {},
}


def read(kind: str, answer: Any) -> Answer:
    """Return the members of an answer to a request of some kind, all of them, as they count."""
    return _READERS[kind](
        taken(answer) if isinstance(answer, dict) and _depth(answer) <= _DEEPEST else {"error": "no object"}
    )


def taken(value: Any) -> Any:
    """Return a value with its numbers as doubles."""
    if isinstance(value, dict):
        return {name: taken(each) for name, each in value.items()}
    if isinstance(value, list):
        return [taken(each) for each in value]
    return float(value) if isinstance(value, int) and abs(value) > _EXACT else value
