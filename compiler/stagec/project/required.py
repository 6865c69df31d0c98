"""Which versions of stagec a project accepts: `>=0.1,<2`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from itertools import zip_longest

_CLAUSE = re.compile(r"\s*(?P<operator>==|!=|>=|<=|>|<)\s*(?P<release>[0-9]{1,9}(\.[0-9]{1,9})*)\s*")
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")
_OPERATORS: dict[str, Callable[[list[int], list[int]], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def well_formed(specifier: str) -> bool:
    """Tell whether a specifier is a list of comparisons with release numbers, separated by commas."""
    return all(_CLAUSE.fullmatch(clause) for clause in specifier.split(","))


def accepts(specifier: str, version: str) -> bool:
    """Tell whether a version satisfies every clause of a well-formed specifier; only its release numbers count."""
    release = _RELEASE.match(version)
    numbers = release[0] if release else "0"
    found = [match for clause in specifier.split(",") if (match := _CLAUSE.fullmatch(clause))]
    return all(_OPERATORS[match["operator"]](*_padded(numbers, match["release"])) for match in found)


def _padded(left: str, right: str) -> tuple[list[int], list[int]]:
    pairs = list(zip_longest(map(int, left.split(".")), map(int, right.split(".")), fillvalue=0))
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
