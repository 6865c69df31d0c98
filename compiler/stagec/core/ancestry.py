"""What comes before what in a graph without cycles: many questions at once, in passes over the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagec.core.components import Neighbours

_AT_ONCE = 4096
"""Ancestors that are looked for in one pass, each by a bit of an integer."""


def find_unrelated(needs: Neighbours, order: Sequence[int], pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return those pairs of a node and another one in which the other one is not before the node.

    `needs` are what is directly before each node, `order` has each node after all that is before it. What is directly
    before a node costs no pass.
    """
    wanted: dict[int, list[int]] = {}
    for node, other in pairs:
        if other not in needs[node]:
            wanted.setdefault(other, []).append(node)
    found: set[tuple[int, int]] = set()
    every = list(wanted)
    for start in range(0, len(every), _AT_ONCE):
        chosen = every[start : start + _AT_ONCE]
        bits = {other: 1 << place for place, other in enumerate(chosen)}
        before = [0] * len(needs)
        for node in order:
            mask = 0
            for each in needs[node]:
                mask |= before[each] | bits.get(each, 0)
            before[node] = mask
        found.update((node, other) for other, bit in bits.items() for node in wanted[other] if not before[node] & bit)
    return found
