"""Requests and their answers in a few words."""

from __future__ import annotations

import json
from shlex import join

from stagec.cli.running.telling import label
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.plan.canonical import compact
from stagec.runtime import Effect
from stagec.runtime.exchange import Ask, Call, Confirm, Grant, Hook, Judge, Run, Shell, Turn, Wait, read_key

_LONGEST = 200
"""Characters of an answer that are looked at; a line shows fewer."""


def request_label(key: str) -> str:
    """Return which execution a request belongs to."""
    parts = read_key(key)
    return label(parts.node, parts.visit)


def asked(effect: Effect) -> str:
    """Return what was asked for."""
    match effect:
        case Ask() | Turn():
            return "ask" if isinstance(effect, Ask) else "turn"
        case Call() | Grant():
            return f"{type(effect).__name__.lower()} {effect.tool}"
        case Run() | Shell():
            return f"run {join(effect.words) if isinstance(effect, Run) else effect.command}"
        case Judge() | Confirm():
            return "judge" if isinstance(effect, Judge) else "confirm"
        case Hook():
            return f"hook {effect.call}"
        case Wait():
            return f"wait {effect.milliseconds} ms"


def answered(effect: Effect, answer: Json) -> str:
    """Return what the answer was."""
    told = object_of(answer)
    match effect:
        case Turn():
            return _turn(effect, told)
        case Run() | Shell():
            return _output(told)
        case Grant() | Judge() | Confirm():
            return "yes" if True in told.values() else "no"
        case Wait():
            return ""
        case Call() if "error" in told:
            return f"error: {_short(told['error'])}"
        case _:
            return _short(told.get("answer", told.get("value")))


def _turn(effect: Turn, told: Object) -> str:
    said = []
    for each in map(object_of, list_of(told.get("calls"))):
        is_completion = each.get("tool") == effect.completion
        said.append(f"{each.get('tool')}{' ' + _short(each.get('arguments')) if is_completion else ''}")
    return ", ".join(said) or _short(text_in(told, "text") or "")


def _output(told: Object) -> str:
    status = told.get("exit")
    return "no exit status" if status is None else f"exit {status}"


def _short(given: Json) -> str:
    text = given if isinstance(given, str) else _written(given)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _written(given: Json) -> str:
    """Return JSON as plans write it, and as journals do where a number is more than plans can hold."""
    try:
        return compact(given)
    except ValueError:
        return json.dumps(given, separators=(",", ":"))
