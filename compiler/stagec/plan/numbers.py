"""Which numbers a plan can hold: those that every reader of JSON reads alike."""

from __future__ import annotations

import math

from stagec.core.json import Json

MOST = 2**53 - 1
"""Beyond it, up and down, not every reader tells one whole number from the next."""


def counted(given: Json) -> int | None:
    """Return a number greater than 0 as a whole one that a plan can hold, rounded up; nothing for all else."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return None
    return MOST if given >= MOST else math.ceil(given)


def is_held(given: Json) -> bool:
    """Tell whether a plan can hold a value: whether every number in it lies where all readers agree."""
    todo = [given]
    for each in todo:  # grows while it is walked
        if isinstance(each, dict):
            todo.extend(each.values())
        elif isinstance(each, list | tuple):
            todo.extend(each)
        elif isinstance(each, int | float) and not -MOST <= each <= MOST:
            return False
    return True
