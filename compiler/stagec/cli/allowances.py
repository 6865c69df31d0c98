"""The codes of breaking changes that a user lets count as compatible."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.comparison.classify import list_kinds
from stagec.comparison.kind import Grade
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote


def read_codes(given: Iterable[str]) -> frozenset[str]:
    """Return codes as kinds are called; raise `Failure` for one that no breaking kind has."""
    known = [each.code for each in list_kinds() if each.grade is Grade.BREAKING]
    codes = {each: each.upper() for each in given}
    for each, code in codes.items():
        if code not in known:
            raise Failure(f"{quote(each)} is not a code of a breaking change{hint(code, NameIndex(known))}")
    return frozenset(codes.values())
