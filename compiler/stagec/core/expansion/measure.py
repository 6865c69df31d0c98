"""How many steps judging one value by one schema takes at most, before it is tried."""

from __future__ import annotations

import heapq

from stagec.core.expansion.expansion import ENDLESS, Expansion, Node
from stagec.core.expansion.pattern_size import PATTERN_COST
from stagec.core.json import Json
from stagec.core.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Judging = Mapping[int, int]
    """How often each schema judges a value."""


@value
class Extent:
    """How large a value is: values in it, the deepest one, and characters of its texts and names."""

    values: int
    depth: int
    characters: int


def extent(given: Json, most: int) -> Extent:
    """Return how large a value is; counting ends where it has more values than `most`."""
    values = characters = depth = 0
    level = [given]
    while level and values <= most:
        values += len(level)
        depth += 1
        characters += sum(len(each) for each in level if isinstance(each, str))
        characters += sum(len(name) for each in level if isinstance(each, dict) for name in each)
        level = [inner for each in level for inner in _inside(each)]
    return Extent(values, depth, characters)


_LOOKED = 2_000_000
"""Pairs of a schema and a value that are looked at to find out; with more, judging takes too long as well."""


def steps(expansion: Expansion, start: int, given: Json, most: int) -> int:
    """Return how many steps judging a value takes at most, or some number beyond `most`."""
    if expansion.weights[start] >= ENDLESS:
        return ENDLESS
    total = looked = 0
    todo: list[tuple[Json, Judging]] = [(given, {start: 1})]
    while todo and total <= most:
        each, judging = todo.pop()
        found = _beside(expansion, judging)
        total += _own(expansion, found, is_text=isinstance(each, str))
        looked += len(found) * (1 + (len(each) if isinstance(each, dict | list) else 0))
        if looked > _LOOKED:
            return ENDLESS
        if total <= most:
            todo.extend(_below([(expansion.nodes[node], times) for node, times in found.items()], each))
    return total


def _inside(given: Json) -> Iterator[Json]:
    yield from given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()


def _beside(expansion: Expansion, judging: Judging) -> Judging:
    """Return how often each schema judges a value, counting those that others apply to the same value."""
    counts = dict(judging)
    waiting = [(-expansion.ranks[each], each) for each in counts]
    heapq.heapify(waiting)
    while waiting:
        _, each = heapq.heappop(waiting)
        node = expansion.nodes[each]
        times = counts[each] * node.own.factor
        for other in node.beside:
            if other not in counts:
                heapq.heappush(waiting, (-expansion.ranks[other], other))
            counts[other] = min(ENDLESS, counts.get(other, 0) + times)
    return counts


def _own(expansion: Expansion, judging: Judging, *, is_text: bool) -> int:
    nodes = expansion.nodes
    total = sum(times * nodes[each].own.work for each, times in judging.items())
    tried = sum(times for each, times in judging.items() if nodes[each].own.backtracks)
    return total + tried * PATTERN_COST * is_text


def _below(judging: list[tuple[Node, int]], given: Json) -> Iterator[tuple[Json, Judging]]:
    if isinstance(given, dict):
        for name, inner in given.items():
            yield inner, _counted((_of_member(node, name), times) for node, times in judging)
    elif isinstance(given, list):
        for index, inner in enumerate(given):
            yield inner, _counted((_of_element(node, index), times) for node, times in judging)


def _of_member(node: Node, name: str) -> list[int]:
    named = node.members.get(name, node.others)
    return node.every_member if named is None else [named, *node.every_member]


def _of_element(node: Node, index: int) -> list[int]:
    return [node.elements[index], *node.every_element] if index < len(node.elements) else node.every_element


def _counted(found: Iterator[tuple[list[int], int]]) -> Judging:
    counts: dict[int, int] = {}
    for schemas, times in found:
        for each in schemas:
            counts[each] = counts.get(each, 0) + times
    return counts
