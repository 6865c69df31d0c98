"""Combinations of the values that the conditions of a node look at, so that its results take different edges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, product
from math import prod

from stagec.core.json import Json
from stagec.core.place import Key
from stagec.core.value import replace
from stagec.ir.plan.gate import Among, Exists, Gate, Reads, Term
from stagec.runtime.machine.json_values import holds
from stagec.runtime.world.samples import PlainDemands, RequiredValue, find_in_answer, read_text

_MOST = 200
"""Combinations up to which each is tried."""
_EFFORT = 100_000
"""Members and values that are made for more combinations than that, together."""
_CHEAP = 8
"""Edges that are compared with a result in the time in which one of its members is made."""
_OTHERS: tuple[Json, ...] = (True, False, 0, 1, "text", "other", None, {}, [])
"""Values of which few conditions hold."""

Required = tuple[RequiredValue, ...]
_Case = Collection[Term]
_Path = tuple[Key, ...]


def combine(
    gate: Gate, demands: PlainDemands, cases: Iterable[_Case], order: Iterable[_Case] | None = None
) -> Iterator[Required]:
    """Yield combinations of values that the conditions of cases tell apart, the one without any requirement first.

    Values that the schema never allows are left out. Where there are too many combinations, there are first those that
    each case needs, in an order of the cases, and then as many others as can be tried.
    """
    cases = [*cases]
    paths: dict[_Path, _Looked] = {}
    for term in (each for case in cases for each in case):
        path = find_in_answer(gate, term)
        if path:
            paths.setdefault(path, _Looked(path, demands)).add(term)
    values = [some for looked in paths.values() if (some := looked.list_allowed())]
    yield ()
    if prod(map(len, values[:_MOST])) <= _MOST >= len(values):
        yield from product(*values)
        return
    left = _EFFORT
    needed = _list_needed(gate, cases if order is None else order, paths)
    for required in chain(needed, islice(product(*values), _MOST)):
        yield required
        left -= demands.size + len(required) + len(cases) // _CHEAP
        if left < 0:
            return


class _Looked:
    """The values at one path that are looked at, because of the conditions about it."""

    def __init__(self, path: _Path, demands: PlainDemands) -> None:
        self._path, self._demands = path, demands
        self._terms: list[Term] = []
        self._told: dict[str, RequiredValue] = {}

    def add(self, term: Term) -> None:
        """Take note of a condition."""
        self._terms.append(term)
        for each in self._list_told(term):
            self._told.setdefault(repr(each), each)
        if len(self._terms) == 1:
            self._told |= {repr(each): each for each in self._list_others()}

    def list_allowed(self) -> list[RequiredValue]:
        """Return values for which conditions hold, and some for which they do not."""
        return [each for each in self._told.values() if self._demands.allow(each)]

    def find_for(self, terms: Collection[Term]) -> RequiredValue | None:
        """Return a value for which some conditions hold."""
        told = (each for term in terms for each in self._list_told(term))
        found = (each for each in (*told, *self._list_others()) if all(_holds(term, each) for term in terms))
        return next(filter(self._demands.allow, found), None)

    def find_other(self) -> RequiredValue | None:
        """Return a value for which no condition holds."""
        allowed = filter(self._demands.allow, self._list_others())
        return next((each for each in allowed if not any(_holds(term, each) for term in self._terms)), None)

    def _list_told(self, term: Term) -> Iterator[RequiredValue]:
        match term:
            case Among(values=values):
                found: Iterable[Json] = values
            case Reads(texts=texts):
                found = (*map(read_text, texts), *texts)
            case Exists():
                found = ("text",)
        yield from (RequiredValue(self._path, each) for each in found)

    def _list_others(self) -> Iterator[RequiredValue]:
        yield from (RequiredValue(self._path, each) for each in _OTHERS)
        yield RequiredValue(self._path, absent=True)


def _holds(term: Term, each: RequiredValue) -> bool:
    """Tell whether a condition holds for a value at its path."""
    return holds(replace(term, path=("it",)), {} if each.absent else {"it": each.value})


def _list_needed(gate: Gate, cases: Iterable[_Case], paths: Mapping[_Path, _Looked]) -> Iterator[Required]:
    """Yield what each case needs: alone, and together with values for which no other case holds."""
    others = {path: each for path, looked in paths.items() if (each := looked.find_other()) is not None}
    for case in cases:
        terms: dict[_Path, list[Term]] = {}
        for term in case:
            path = find_in_answer(gate, term)
            if path:
                terms.setdefault(path, []).append(term)
        own = {path: each for path, some in terms.items() if (each := paths[path].find_for(some)) is not None}
        if len(own) == len(terms):
            yield (*own.values(),)
            yield (*{**others, **own}.values(),)
