"""How much a campaign tries: little in a test run on somebody's machine, everything in CI.

A campaign is a test that tries many cases: random projects, every byte altered, every moment at which a process can be
killed. `STAGEC_CAMPAIGNS=full` asks for all of them; `.ci/run` sets it. Without it, a campaign takes seconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

T = TypeVar("T")

SIZE = "STAGEC_CAMPAIGNS"


def is_full() -> bool:
    """Tell whether campaigns run at full size."""
    size = os.environ.get(SIZE, "quick")
    if size not in {"quick", "full"}:
        raise ValueError(f"{SIZE} is {size!r} and must be 'quick' or 'full'")
    return size == "full"


def choose(quick: int, *, full: int) -> int:
    """Return the number of cases that a campaign tries."""
    return full if is_full() else quick


def sample(cases: Sequence[T], quick: int, *, full: int | None = None) -> Sequence[T]:
    """Return all cases, or that many of them in a quick or a full run, spread evenly, with the first and the last."""
    most = full if is_full() else quick
    if most is None or len(cases) <= most:
        return cases
    between = ((at * (len(cases) - 1)) // (most - 1) for at in range(1, most - 1))
    return [cases[at] for at in chain((0,), between, (len(cases) - 1,))]


def sample_alike(names: Sequence[str], quick: int) -> list[str]:
    """Return the names of all tests, or in a quick run that many of those that differ in their parameters only."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name.partition("[")[0], []).append(name)
    return [name for alike in kinds.values() for name in sample(alike, quick)]
