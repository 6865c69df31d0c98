"""The machine with its journal against a bare loop of commits of the same durability, by the clock on the wall.

A disk that others use is sometimes fast and sometimes slow, so the two take turns, and the means of their runs count.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

from benchmarks._machines import bare, journaled
from stagec_dev.cost import Benchmark

_TURNS = 4


def _measure(folder: Path) -> tuple[float, float]:
    ours, theirs = [], []
    for turn in range(_TURNS):
        fresh = folder / str(turn)
        fresh.mkdir()
        ours.append(journaled(fresh, 2_000))
        theirs.append(bare(fresh, 2_000))
    return mean(ours), mean(theirs)


JOURNAL = Benchmark("journal: a transition on the disk", "a commit of a bare loop", _measure, wish=1.11)
