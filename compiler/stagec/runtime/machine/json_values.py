"""JSON values as the machine reads them: conditions, changes, readability (§§ 2.1, 3.4, 3.8)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import repeat
from typing import Any

from stagec.core.canonical import as_text
from stagec.core.json import MISSING, Json, equal, follow
from stagec.core.json_reader import DEPTH, UnreadableError
from stagec.ir.plan.gate import Among, Exists, Term


def put(given: Json, path: Iterable[str | int], other: Json) -> Json:
    """Return a copy of a value in which another one is at a path, which leads to something."""
    top = [given]
    holder: Any = top
    key: int | str = 0
    for each in path:
        holder[key] = holder[key].copy()
        holder, key = holder[key], int(each) if type(holder[key]) is list else str(each)
    holder[key] = other
    found: Json = top[0]
    return found


def all_hold(terms: Iterable[Term], given: Json) -> bool:
    """Tell whether every one of some terms holds of a value."""
    return all(map(holds, terms, repeat(given)))


def holds(term: Term, given: Json) -> bool:
    """Tell whether a term holds of a value."""
    found = follow(given, term.path)
    if isinstance(term, Exists):
        return (found is not MISSING) is term.present
    if found is MISSING:
        return False
    if isinstance(term, Among):
        if type(found) is str:  # equal to nothing but itself
            return found in term.values
        return any(equal(found, each) for each in term.values)
    return as_text(found) in term.texts


_EXACT = 2**53
"""Up to here every whole number is a double."""


def normalise(given: Any) -> Json:
    """Return a value with its numbers as doubles hold them; raise `UnreadableError` for what is no readable JSON."""
    found: Json = _round(given) if _has_large_numbers(given) else given
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
        raise UnreadableError("it is nested too deeply")
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
        if not math.isfinite(given):
            raise UnreadableError("a number is not finite")
    elif isinstance(given, str):
        _check_text(given)
    elif isinstance(given, dict):
        inner += (*given, *given.values())
    elif isinstance(given, list | tuple):
        inner += given
    return False


def _check_text(given: str) -> None:
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError("a text contains half a character") from error


def _round(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: _round(each) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_round(each) for each in given]
    if isinstance(given, int) and not -_EXACT <= given <= _EXACT:
        try:
            return int(float(given))  # a whole number still: in draft-04, 1.0 is none
        except OverflowError as error:
            raise UnreadableError("no double is as large as a number") from error
    return given
