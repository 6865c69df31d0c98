"""The one reader of JSON from outside: it refuses invalid JSON with the place and the reason."""

from __future__ import annotations

import json
import math
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stagec.core.json import Json

DEPTH = 128
"""How deep lists and objects may lie inside each other."""
_EXACT = 2**53
"""Up to here every whole number is a double."""
_LONG = 310
"""Digits that no whole number has which a double can hold."""
_SHOWN = 60


class UnreadableError(ValueError):
    """A value that no JSON text of RFC 8259 says, or that is nested too deeply.

    `str()` says where and why, as in `/items/2: NaN is not a JSON number`; the place is missing for a whole value.
    """

    def __init__(self, why: str, pointer: tuple[str | int, ...] = ()) -> None:
        place = write_pointer(pointer)
        super().__init__(f"{place}: {why}" if place else why)


def write_pointer(pointer: tuple[str | int, ...]) -> str:
    """Return a place in a value as RFC 6901 writes it, in characters that can be sent."""
    steps = (mend_text(str(each))[:_SHOWN].replace("~", "~0").replace("/", "~1") for each in pointer)
    return "".join(f"/{each}" for each in steps)


def mend_text(text: str) -> str:
    """Return a text that can be sent: halves of characters, which JSON can spell, become question marks."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def read_json(given: str | bytes) -> Json:
    """Return the value of a text; raise `UnreadableError` for a text that is not JSON as others read it."""
    return check_json(parse_json(given))


def parse_json(given: str | bytes) -> Json:
    """Return the value of a text, which `find_unreadable` has to look at; raise `UnreadableError` for bad syntax."""
    try:
        text = given if isinstance(given, str) else given.decode("utf-8-sig")
        read: Json = json.loads(text, object_pairs_hook=_make_object, parse_int=_read_integer)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(f"it is not JSON: {error}") from error
    except RecursionError as error:
        raise UnreadableError(_DEEP) from error
    return read


def check_json(given: Json) -> Json:
    """Return a value that is JSON; raise `UnreadableError` for any other."""
    found = find_unreadable(given)
    if found is not None:
        raise found
    return given


def find_unreadable(given: Any, depth: int = 0) -> UnreadableError | None:
    """Return the first place, in the order of members, at which a value is no JSON, with the reason, or None.

    `depth` is how many lists and objects it lies in.
    """
    pointer: list[str | int] = []
    levels: list[Iterator[tuple[str | int, Any]]] = []
    following: Any = given
    while True:
        why = _explain(following, len(levels) + depth)
        if why is not None:
            return UnreadableError(why, tuple(pointer))
        if isinstance(following, dict):
            levels.append(iter(tuple(following.items())))
            pointer.append("")
        elif isinstance(following, list | tuple):
            levels.append(enumerate(following))
            pointer.append("")
        step = next(levels[-1], None) if levels else None
        while step is None:
            if not levels:
                return None
            levels.pop()
            pointer.pop()
            step = next(levels[-1], None) if levels else None
        pointer[-1], following = step


_DEEP = f"it is nested more than {DEPTH} levels deep"
_PLAIN = (bool, type(None))


def _explain(given: Any, depth: int) -> str | None:
    """Return why a value by itself is no JSON, given how many others it lies in; what lies in it does not count."""
    if isinstance(given, str):
        return None if given.isascii() else _explain_text(given, "the text")
    if isinstance(given, _PLAIN):
        return None
    if isinstance(given, int | float):
        return _explain_number(given)
    if not isinstance(given, dict | list | tuple):
        return f"a Python {type(given).__name__!r} is not JSON"
    if depth >= DEPTH:
        return _DEEP
    return _explain_names(given) if isinstance(given, dict) else None


def _explain_number(given: float) -> str | None:
    if isinstance(given, int):
        try:
            float(given)
        except OverflowError:
            return _ENDLESS
        return None
    if math.isnan(given):
        return "NaN is not a JSON number"
    return None if math.isfinite(given) else _ENDLESS


_ENDLESS = "Infinity, or a number larger than every double, is not a JSON number"


def _explain_names(given: dict[Any, Any]) -> str | None:
    if type(given) is _Repeated:
        return f"the member {_show(given.name)} occurs more than once"
    for name in given:
        if not isinstance(name, str):
            if not isinstance(name, int | float | None):
                return f"a Python {type(name).__name__!r} is not the name of a member"
            if json.dumps(name) in given:
                return f"the member '{json.dumps(name)}' occurs more than once"
            continue
        if not name.isascii() and (why := _explain_text(name, f"the name {_show(name)}")) is not None:
            return why
    return None


def _explain_text(given: str, what: str) -> str | None:
    try:
        given.encode()
    except UnicodeEncodeError as error:
        return f"{what} contains half a character, {given[error.start]!a}"
    return None


def _show(name: str) -> str:
    return ascii(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…") if not name.isprintable() else f"'{name}'"


class _Repeated(dict[str, "Json"]):
    """An object in whose text a member occurs twice."""

    name = ""


def _make_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    repeated = _Repeated(made)
    repeated.name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
    return repeated


def _read_integer(digits: str) -> float:
    """Return a whole number; one that Python refuses to read for its length is infinite, as it is for a double."""
    return int(digits) if len(digits) < _LONG else float(digits)
