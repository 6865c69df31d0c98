"""Which stages of a plan come before which, for the pairs that somebody asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stagec.core.components import components

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
        """Return for each pair of stages to start from and stages wanted those wanted that are or precede a start."""
        found: list[list[int]] = [[] for _ in questions]
        wanted = sorted({each for _, some in questions for each in some})
        for start in range(0, len(wanted), _WIDTH):
            bits = {stage: 1 << place for place, stage in enumerate(wanted[start : start + _WIDTH])}
            before = self._spread(bits)
            for answer, (starts, some) in zip(found, questions, strict=True):
                known = _join(before[each] for each in starts)
                answer.extend(each for each in some if each in bits and known & bits[each])
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


def _join(parts: Iterator[int]) -> int:
    known = 0
    for each in parts:
        known |= each
    return known
