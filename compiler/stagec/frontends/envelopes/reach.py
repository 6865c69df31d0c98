"""Which stages of a plan come before which, for the pairs that somebody asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stagec.core.components import components

MOST = 9
"""So many stages are told of all that are meant: one more than messages show."""
_WIDTH = 8_192
"""So many stages are asked about in one pass: what is known of a stage is one bit for each of them."""


class Ancestry:
    """The stages that come before each stage; stages are numbers.

    A question is about one stage and some that may come before it. All questions are answered together, a pass over
    the plan for each 8,192 stages asked about, so that the cost is linear however they are spread.
    """

    def __init__(self, leads: Sequence[Sequence[int]]) -> None:
        self._leads = leads
        self._order: list[list[int]] | None = None

    def answer(self, questions: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[int]]:
        """Return for each pair of stages to start from and stages wanted those wanted that are or precede a start.

        More than nine are not counted. Many questions may want the same stages; where these are one object, they cost
        as much as one.
        """
        found: list[list[int]] = [[] for _ in questions]
        groups = {id(some): some for _, some in questions}
        wanted = sorted({each for some in groups.values() for each in some})
        for start in range(0, len(wanted), _WIDTH):
            part = wanted[start : start + _WIDTH]
            bits = {stage: 1 << place for place, stage in enumerate(part)}
            masks = {key: _join(bits.get(each, 0) for each in some) for key, some in groups.items()}
            before = self._spread(bits)
            for answer, (starts, some) in zip(found, questions, strict=True):
                known = masks[id(some)] and _join(before[each] for each in starts) & masks[id(some)]
                answer.extend(part[place] for place in _list_bits(known, MOST - len(answer)))
        return found

    def _spread(self, bits: Mapping[int, int]) -> list[int]:
        """Return for each stage the bits of itself and of all that come before it."""
        before = [0] * len(self._leads)
        for component in self._components():
            known = _join(before[target] for stage in component for target in self._leads[stage])
            known |= _join(bits.get(stage, 0) for stage in component)
            for stage in component:
                before[stage] = known
        return before

    def _components(self) -> list[list[int]]:
        if self._order is None:
            self._order = list(components([list(each) for each in self._leads]))
        return self._order


def _list_bits(known: int, most: int) -> Iterator[int]:
    """Yield the places of the lowest bits that are set."""
    for _ in range(most if known else 0):
        lowest = known & -known
        yield lowest.bit_length() - 1
        known ^= lowest
        if not known:
            return


def _join(parts: Iterator[int]) -> int:
    known = 0
    for each in parts:
        known |= each
    return known
