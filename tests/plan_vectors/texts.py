"""What stands at paths, what texts templates make, and which terms hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

NOTHING: Final = object()
"""What a path leads to that leads nowhere; null is something."""

Template = Sequence[Mapping[str, Any]]
Contents = Mapping[str, str]
Names = Container[str | int]
_EMPTY: Names = ("failure", "this")
SYSTEM: Names = ("failure", "this", "variable", "stdin")
"""Below these names, holes that lead to nothing are empty; in the system prompt below all there are."""

_PLAIN, _TINY = 21, -6
"""So many digits stand before the point of a number without exponent, and less zeros behind it."""


class HoleError(Exception):
    """A hole leads to nothing where there must be something."""


def follow(value: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a path, or `NOTHING`."""
    for part in path:
        value = _step(value, part)
    return value


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(str(part), NOTHING)
    if isinstance(value, list) and str(part).isascii() and str(part).isdecimal() and int(part) < len(value):
        return value[int(part)]
    return NOTHING


def text(value: Any) -> str:
    """Return a value as a hole writes it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else written(value)


def written(value: Any, order: Callable[[Mapping[str, Any]], Iterable[str]] = list) -> str:
    """Return JSON without blanks: members in an order, texts and numbers as RFC 8785 writes them.

    In the order `sorted` it is the text of RFC 8785 for names of the Basic Multilingual Plane.
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(name)}:{written(value[name], order)}" for name in order(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(each, order) for each in value) + "]"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _number(value) if is_number else json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it."""
    sign, shortest, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits, point = "".join(map(str, shortest)), len(shortest) + int(exponent)
    minus = "-" if sign and value else ""
    if len(digits) <= point <= _PLAIN:
        return f"{minus}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= _PLAIN:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if _TINY < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}" if value else "0"
    return f"{minus}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+d}"


def render(template: Template, scope: Mapping[str, Any], contents: Contents, names: Names = _EMPTY) -> str:
    """Return the text of a template; a hole that leads to nothing is an error, but empty below some names."""
    return "".join(_pieces(template, scope, contents, names))


def _pieces(template: Template, scope: Mapping[str, Any], contents: Contents, names: Names) -> Iterator[str]:
    for piece in template:
        if piece["is"] == "text":
            yield contents[piece["content"]]
        elif piece["is"] == "hole":
            yield _hole(piece["path"], scope, names)
        elif piece["is"] == "each":
            for element in _elements(follow(scope, piece["path"])):
                yield from _pieces(piece.get("body", ()), {**scope, "this": element}, contents, names)
        else:
            branch = "then" if _is_there(follow(scope, piece["path"])) else "otherwise"
            yield from _pieces(piece.get(branch, ()), scope, contents, names)


def _hole(path: Sequence[str | int], scope: Mapping[str, Any], names: Names) -> str:
    found = follow(scope, path)
    if found is NOTHING and path[0] not in names:
        raise HoleError(".".join(map(str, path)))
    return "" if found is NOTHING else text(found)


def _elements(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_there(value: Any) -> bool:
    return value is not NOTHING and (bool(value) or isinstance(value, dict))


def holds(terms: Sequence[Mapping[str, Any]], value: Any) -> bool:
    """Say whether all terms hold of a value."""
    return all(_holds(term, follow(value, term["path"])) for term in terms)


def _holds(term: Mapping[str, Any], found: Any) -> bool:
    if term["is"] == "exists":
        return (found is not NOTHING) == term["present"]
    if found is NOTHING:
        return False
    if term["is"] == "reads":
        return text(found) in term["texts"]
    return any(same(found, each) for each in term["values"])


def same(one: Any, other: Any) -> bool:
    """Say whether two values are equal as JSON Schema compares them: 1 is 1.0, and true is no number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
