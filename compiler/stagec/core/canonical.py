"""JSON as text: as RFC 8785 writes it, one text for one value, with digests; and as given, however deep it is."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable

from stagec.core.json import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    _Order = Callable[[Iterable[str]], list[str]]

MOST = 2**53 - 1
"""Beyond it, up and down, not every reader tells one whole number from the next."""


def to_count(given: Json) -> int | None:
    """Return a number greater than 0 as a whole one that a plan can hold, rounded up; nothing for all else."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return None
    return MOST if given >= MOST else math.ceil(given)


def is_exact(given: Json) -> bool:
    """Tell whether a plan can hold a value: whether every number in it lies where all readers agree."""
    todo = [given]
    for each in todo:  # grows while it is walked
        if isinstance(each, dict):
            todo.extend(each.values())
        elif isinstance(each, list | tuple):
            todo.extend(each)
        elif isinstance(each, int | float) and not -MOST <= each <= MOST:
            return False
    return True


_BEYOND = "\ud7ff"
"""Up to here the order of code points is that of UTF-16 code units; RFC 8785 orders names by the latter."""
_ROUND, _TINY = 21, -6
"""Decimal exponents from which on, and up to which, ECMAScript writes numbers with an exponent."""


def canonical(given: Json) -> bytes:
    """Return the one text of a value, in UTF-8; raise `ValueError` for what has none.

    Such values are a number that is not finite, an integer that no double holds, a lone surrogate, and too deep
    nesting.
    """
    try:
        return _text(given, _SORTED, _by_units).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a text holds {error.object[error.start]!a}, which is half a character") from error


def digest(given: bytes) -> str:
    """Return the name of some bytes: `sha256:` and their digest in lower-case hexadecimal digits."""
    from hashlib import sha256  # with its library it takes longer to load than most projects take to check

    return f"sha256:{sha256(given).hexdigest()}"


def as_text(given: Json) -> str:
    """Return a value as a hole of a template writes it: a text as it is, null as nothing, all else as JSON."""
    if isinstance(given, str):
        return given
    if given is None:
        return ""
    return _WORDS[given] if isinstance(given, bool) else compact(given)


_WORDS = ("false", "true")


def compact(given: Json) -> str:
    """Return a value as `canonical` does, but as a text, and with the members of objects in the order they have."""
    return _text(given, _AS_GIVEN, list)


def _text(given: Json, quick: Callable[[Any], str], order: _Order) -> str:
    pieces: list[str] = []
    try:
        if _is_plain(given):
            return quick(given)
        _write(given, pieces.append, order)
    except RecursionError as error:
        raise ValueError("it is nested too deeply to be written") from error
    return "".join(pieces)


_SORTED = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")).encode
_AS_GIVEN = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_QUOTED = json.encoder.encode_basestring


def _is_plain(given: Any) -> bool:
    """Tell whether the standard library writes a value the same way: without odd numbers and odd names."""
    todo = [given]
    for each in todo:  # grows while it is walked
        kind = type(each)
        if kind is str:
            continue
        if kind is dict:
            names = "".join(each)
            if not names.isascii() and max(names) > _BEYOND:
                return False
            todo += each.values()
        elif kind is list or kind is tuple:
            todo += each
        elif kind is float or (kind is int and not -MOST <= each <= MOST):
            return False
    return True


def _write(given: Any, put: Callable[[str], None], order: _Order) -> None:
    if isinstance(given, dict):
        between = "{"
        for name in order(given):
            put(f"{between}{_QUOTED(name)}:")
            _write(given[name], put, order)
            between = ","
        put("}" if given else "{}")
    elif isinstance(given, list | tuple):
        between = "["
        for each in given:
            put(between)
            _write(each, put, order)
            between = ","
        put("]" if given else "[]")
    else:
        put(_number(given) if type(given) in {int, float} else _SORTED(given))


def _by_units(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def _number(given: float) -> str:
    """Return a number as ECMAScript writes it."""
    if isinstance(given, int):
        return str(given) if -MOST <= given <= MOST else _large(given)
    if not math.isfinite(given):
        raise ValueError(f"{given} is not a JSON number")
    if given == 0:
        return "0"
    sign, digits, exponent = _decimal(given)
    count = len(digits)
    if count <= exponent <= _ROUND:
        return sign + (digits + "0" * (exponent - count))
    if 0 < exponent <= _ROUND:
        return sign + f"{digits[:exponent]}.{digits[exponent:]}"
    if _TINY < exponent <= 0:
        return sign + ("0." + "0" * -exponent + digits)
    shown = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return sign + f"{shown}e{exponent - 1:+d}"


def _large(given: int) -> str:
    """Return a large integer that is a double, or is read from the text of one."""
    try:
        nearest = float(given)
        written = _number(nearest)
    except OverflowError:
        nearest, written = 0.0, ""
    if not written or (given != nearest and written != str(given)):
        # an integer, or how long it is: Python refuses to write very long ones
        show = str(given) if given.bit_length() < _LONG else f"an integer of {given.bit_length()} bits"
        raise ValueError(f"{show} is more than JSON numbers can hold exactly")
    return written


_LONG = 256


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


def text_of(given: Json) -> str:
    """Return the text of a value, however deep it is."""
    try:
        return _AS_GIVEN(given)
    except RecursionError:
        return _deep(given)


def _deep(given: Json) -> str:
    """Return the text that the standard library would write if it did not recurse for every level."""
    pieces: list[str] = []
    todo: list[tuple[str, tuple[Json, ...]]] = [("", (given,))]
    while todo:
        before, held = todo.pop()
        pieces.append(before)
        for each in held:
            if isinstance(each, dict):
                pieces.append("{")
                todo.extend(_separate(((f"{_AS_GIVEN(name)}:", (inner,)) for name, inner in each.items()), "}"))
            elif isinstance(each, list):
                pieces.append("[")
                todo.extend(_separate((("", (inner,)) for inner in each), "]"))
            else:
                pieces.append(_AS_GIVEN(each))
    return "".join(pieces)


_Row = tuple[str, tuple[Json, ...]]
"""The text before a value, and the value; none behind the last."""


def _separate(rows: Iterable[_Row], closer: str) -> list[_Row]:
    """Return rows with commas between them and what closes them behind, the first one last."""
    parted = [(f",{before}" if index else before, held) for index, (before, held) in enumerate(rows)]
    return [(closer, ()), *reversed(parted)]
