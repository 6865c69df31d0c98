"""Two members of an object that have each other's values: all that is wrong with both is one mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.sources.tree import Fault

SWAPPED = "swapped"
"""The fact of a fault that names the places of all faults of the same mistake."""
_FEWEST, _MOST, _SMALL = 2, 8, 60_000
"""More faults, and larger files, are not looked at: each pair of faults is judged with its values exchanged."""


def link_swapped(
    faults: tuple[Fault, ...], value: Json, at: Pointer, size: int, judge: Callable[[Json], Iterable[Pointer]]
) -> tuple[Fault, ...]:
    """Return faults of a value, those of two members with each other's values with the places of all of these.

    `at` is where the value stands. `judge` returns the pointers, into the value, of what is wrong with another value.
    """
    if not _FEWEST <= len(faults) <= _MOST or size >= _SMALL:
        return faults
    found = list(faults)
    for one, other in _list_pairs([each.at.pointer[len(at) :] for each in faults]):
        linked = [index for index, each in enumerate(found) if _is_inside(each.at.pointer[len(at) :], one, other)]
        if any(SWAPPED in found[index].facts for index in linked):
            continue
        swapped = _swap(value, one, other)
        if swapped is not None and not any(_is_inside(each, one, other) for each in judge(swapped)):
            places = tuple(found[index].at for index in linked)
            for index in linked:
                found[index] = replace(found[index], facts={**found[index].facts, SWAPPED: places})
    return tuple(found)


def _list_pairs(pointers: Iterable[Pointer]) -> Iterator[tuple[Pointer, Pointer]]:
    """Yield the pairs of members of one object in which something is wrong, each once."""
    seen: set[tuple[Pointer, Pointer]] = set()
    for one, other in combinations(pointers, 2):
        common = next((at for at, keys in enumerate(zip(one, other, strict=False)) if keys[0] != keys[1]), None)
        if common is not None and isinstance(one[common], str):
            pair = (one[: common + 1], other[: common + 1])
            if pair not in seen:
                seen.add(pair)
                yield pair


def _is_inside(pointer: Pointer, *outer: Pointer) -> bool:
    return any(pointer[: len(each)] == each for each in outer)


def _swap(value: Json, one: Pointer, other: Pointer) -> Json | None:
    """Return a value in which two members of one object have each other's values; nothing where one is not there."""
    key, *rest = one
    if rest and isinstance(value, dict) and key in value:
        inner = _swap(value[str(key)], one[1:], other[1:])
        return None if inner is None else {**value, str(key): inner}
    if rest and isinstance(value, list) and isinstance(key, int) and key < len(value):
        inner = _swap(value[key], one[1:], other[1:])
        return None if inner is None else [*value[:key], inner, *value[key + 1 :]]
    if rest or not isinstance(value, dict) or not {one[0], other[0]} <= value.keys():
        return None
    first, second = str(one[0]), str(other[0])
    return {**value, first: value[second], second: value[first]}
