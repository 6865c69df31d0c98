"""What the world answers, as the machine takes it: numbers are doubles, texts are Unicode, and depth has a bound."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from stagec.core.json import Json

DEPTH = 128
"""How deep lists and objects may lie inside each other."""
_EXACT = 2**53
"""Up to here every whole number is a double."""


class UnreadableError(Exception):
    """A value that no JSON text of RFC 8259 says, or that is nested too deeply."""


def readable(given: Any) -> Json:
    """Return a value with its numbers as doubles hold them; raise `UnreadableError` for what is no readable JSON."""
    found: Json = _rounded(given) if not _is_plain(given) and _has_large_numbers(given) else given
    return found


_ENCODE = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False).encode
_LARGE = re.compile(r"[0-9]{16}")


def _is_plain(given: Any) -> bool:
    """Tell at little cost that a value is surely readable as it is; most are."""
    try:
        text = _ENCODE(given)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return text.count("[") + text.count("{") <= DEPTH and _LARGE.search(text) is None


def _has_large_numbers(given: Any) -> bool:
    """Tell whether a value has whole numbers that may be no doubles, once it is found to be readable."""
    todo, found = [(given, 0)], False
    for each, depth in todo:  # grows while it is walked
        if isinstance(each, str):
            _check_text(each)
        elif isinstance(each, float):
            if not math.isfinite(each):
                raise UnreadableError
        elif isinstance(each, int):
            found = found or not -_EXACT <= each <= _EXACT
        elif isinstance(each, dict | list | tuple):
            if depth == DEPTH:
                raise UnreadableError
            todo.extend((inner, depth + 1) for inner in _parts(each))
    return found


def _parts(given: Any) -> list[Any]:
    return [*given, *given.values()] if isinstance(given, dict) else list(given)


def _check_text(given: str) -> None:
    if not given.isascii():
        try:
            given.encode()
        except UnicodeEncodeError as error:
            raise UnreadableError from error


def _rounded(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: _rounded(each) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_rounded(each) for each in given]
    if isinstance(given, int) and not -_EXACT <= given <= _EXACT:
        try:
            return float(given)
        except OverflowError as error:
            raise UnreadableError from error
    return given
