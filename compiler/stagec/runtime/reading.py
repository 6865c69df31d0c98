"""What the world answers, as the machine takes it: numbers are doubles, texts are Unicode, and depth has a bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    found: Json = _rounded(given) if _has_large_numbers(given) else given
    return found


def _has_large_numbers(given: Any) -> bool:
    """Tell whether a value has whole numbers that may be no doubles, once it is found to be readable."""
    found, todo = False, [given]
    for each in todo:  # grows while it is walked
        if type(each) is str:
            if not each.isascii():
                _check_text(each)
        elif type(each) is dict:
            todo += each
            todo += each.values()
        elif type(each) is list:
            todo += each
        elif each is not None and type(each) is not bool:
            found = _look_closer(each, todo) or found
    if len(todo) > DEPTH:
        _check_depth(given)
    return found


def _check_depth(given: Any) -> None:
    level = [given]
    for _ in range(DEPTH):
        level = [inner for each in level for inner in _parts(each) if isinstance(inner, dict | list | tuple)]
        if not level:
            return
    raise UnreadableError


def _parts(given: Any) -> Iterable[Any]:
    return given.values() if isinstance(given, dict) else given


def _look_closer(given: Any, todo: list[Any]) -> bool:
    """Look at a number, or at a value of a class that is derived from one of those above."""
    if isinstance(given, int):
        return not -_EXACT <= given <= _EXACT
    if isinstance(given, float):
        _check_number(given)
    elif isinstance(given, str):
        _check_text(given)
    elif isinstance(given, dict):
        todo += (*given, *given.values())
    elif isinstance(given, list | tuple):
        todo += given
    return False


def _check_number(given: float) -> None:
    if not math.isfinite(given):
        raise UnreadableError


def _check_text(given: str) -> None:
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
