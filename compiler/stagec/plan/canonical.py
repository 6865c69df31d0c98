"""JSON as RFC 8785 writes it: one text for one value, whoever writes it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from stagec.core.json import Json

_MOST = 2**53 - 1
_BEYOND = "\ud7ff"
"""Up to here the order of code points is that of UTF-16 code units; RFC 8785 orders names by the latter."""
_ROUND, _TINY = 21, -6
"""Decimal exponents from which on, and up to which, ECMAScript writes numbers with an exponent."""


def canonical(given: Json) -> bytes:
    """Return the one text of a value, in UTF-8; raise `ValueError` for what has none.

    That is a number that is not finite, an integer beyond 2^53 - 1, and a lone surrogate.
    """
    plain = _is_plain(given)
    written = _ENCODE(given) if plain else "".join(_pieces(given))
    return written.encode()


_ENCODE = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")).encode
_TEXT = json.encoder.encode_basestring


def _is_plain(given: Any) -> bool:
    """Tell whether the standard library writes a value the same way: without odd numbers and odd names."""
    todo = [given]
    while todo:
        each = todo.pop()
        kind = type(each)
        if kind is dict:
            if not all(name <= _BEYOND for name in each):
                return False
            todo.extend(each.values())
        elif kind is list or kind is tuple:
            todo.extend(each)
        elif kind is float or (kind is int and not -_MOST <= each <= _MOST):
            return False
    return True


def _pieces(given: Any) -> Iterator[str]:
    if isinstance(given, dict):
        between = "{"
        for name in sorted(given, key=_units):
            yield f"{between}{_TEXT(name)}:"
            yield from _pieces(given[name])
            between = ","
        yield "}" if given else "{}"
    elif isinstance(given, list | tuple):
        between = "["
        for each in given:
            yield between
            yield from _pieces(each)
            between = ","
        yield "]" if given else "[]"
    else:
        yield _number(given) if type(given) in {int, float} else _ENCODE(given)


def _units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _number(given: float) -> str:
    """Return a number as ECMAScript writes it."""
    if isinstance(given, int):
        if not -_MOST <= given <= _MOST:
            raise ValueError(f"{given} is more than JSON numbers can hold exactly")
        return str(given)
    if not math.isfinite(given):
        raise ValueError(f"{given} is no JSON number")
    if given == 0:
        return "0"
    sign, digits, exponent = _decimal(given)
    return sign + _placed(digits, exponent)


def _decimal(given: float) -> tuple[str, str, int]:
    """Return the sign, the shortest digits, and the exponent with which they stand behind the point."""
    mantissa, _, power = f"{given!r}e0".partition("e")
    exponent = int(power.partition("e")[0])
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = whole + ("" if fraction == "0" else fraction)
    exponent += len(whole)
    stripped = digits.lstrip("0")
    exponent -= len(digits) - len(stripped)
    return "-" if given < 0 else "", stripped.rstrip("0"), exponent


def _placed(digits: str, exponent: int) -> str:
    count = len(digits)
    if count <= exponent <= _ROUND:
        return digits + "0" * (exponent - count)
    if 0 < exponent <= _ROUND:
        return f"{digits[:exponent]}.{digits[exponent:]}"
    if _TINY < exponent <= 0:
        return "0." + "0" * -exponent + digits
    shown = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{shown}e{exponent - 1:+d}"
