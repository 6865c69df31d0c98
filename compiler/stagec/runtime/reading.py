"""What the world answers, as the machine takes it: numbers are doubles, texts are Unicode, and depth has a bound."""

from __future__ import annotations

import math
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
    found, level = False, [given]
    for _ in range(DEPTH):
        inner: list[Any] = []
        found = _look(level, inner) or found
        if not inner:
            return found
        level = inner
    if any(isinstance(each, dict | list | tuple) for each in level):
        raise UnreadableError
    return _look(level, []) or found


def _look(level: list[Any], inner: list[Any]) -> bool:
    """Look at values that lie equally deep, and add to `inner` what lies in them."""
    found = False
    for each in level:
        if type(each) is str:
            if not each.isascii():
                _check_text(each)
        elif type(each) is dict:
            inner += each
            inner += each.values()
        elif type(each) is list:
            inner += each
        elif each is not None and type(each) is not bool:
            found = _look_closer(each, inner) or found
    return found


def _look_closer(given: Any, inner: list[Any]) -> bool:
    """Look at a number, or at a value of a class that is derived from one of those above."""
    if isinstance(given, int):
        return not -_EXACT <= given <= _EXACT
    if isinstance(given, float):
        _check_number(given)
    elif isinstance(given, str):
        _check_text(given)
    elif isinstance(given, dict):
        inner += (*given, *given.values())
    elif isinstance(given, list | tuple):
        inner += given
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
