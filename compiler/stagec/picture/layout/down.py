"""How far from the top each rank is: far enough from the one above for lines between them to be followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stagec.core.value import value
from stagec.picture.layout.document import Face
from stagec.picture.layout.mesh import Mesh

STUB = 9.0
"""How far lines run straight before they meet a box: as far as their heads are long."""
_GAP, _MOST_GAP = 13.0, 80.0
_STEEP = 0.05
"""How much higher a gap is for each pixel that a line crosses sideways in it."""
_ASIDE = 18.0
"""More height of a gap in which lines leave for the border."""
SPREAD = 5
"""Lines that leave for the border in one gap do so at so many heights."""


@value
class Bands:
    """The top and the bottom of each rank, the ranks where columns begin; half the height and the width of each box."""

    top: Sequence[float]
    bottom: Sequence[float]
    first: Sequence[int]
    half: Sequence[float]
    width: Sequence[float]

    def between(self, rank: int, number: int) -> float:
        """Return a height in the gap below a rank, or above the next column; another one for lines of other numbers."""
        begins = rank + 1 in self.first
        upper = self.top[rank + 1] - STUB - _GAP - _ASIDE if begins else self.bottom[rank]
        lower = self.top[rank + 1] if rank + 1 < len(self.top) else self.bottom[rank] + STUB + _GAP + _ASIDE
        upper, lower = (upper, lower - STUB) if rank % 2 else (upper + STUB, lower)  # boxes stand on even ranks
        return upper + (lower - upper) * (number % SPREAD + 1) / (SPREAD + 1)


def down(mesh: Mesh, at: Sequence[float], faces: Mapping[str, Face], aside: Iterable[int]) -> Bands:
    """Return where ranks begin and end; `aside` are the ranks below which lines leave for the border.

    Every column begins at the top.
    """
    ranks, wide = mesh.ranks(), set(aside)
    top, bottom = [], []
    y = 0.0
    for index, rank in enumerate(ranks):
        if index in mesh.first:
            y = STUB + _GAP + _ASIDE if index - 1 in wide else 0.0
        top.append(y)
        y += max((mesh.height[each] for each in rank), default=0.0)
        bottom.append(y)
        far = max((abs(at[each] - at[below]) for each in rank for below in mesh.below[each]), default=0.0)
        y += STUB + min(_MOST_GAP, _GAP + _STEEP * far) + (_ASIDE if index in wide else 0)
    half, width = [each.height / 2 for each in faces.values()], [each.width for each in faces.values()]
    return Bands(top, bottom, mesh.first, half, width)
