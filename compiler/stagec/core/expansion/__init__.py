"""What judging a value by a user's schema can cost, counted without following any reference twice."""

from stagec.core.expansion.expansion import ENDLESS, Expansion
from stagec.core.expansion.measure import Charge, Extent, extent, find_charge, steps
from stagec.core.expansion.pattern_size import (
    PATTERN_COST,
    PatternTally,
    backtracks,
    pattern_size,
    pattern_steps,
    texts_of,
)
from stagec.core.expansion.references import LocalReferences, patterns_in

__all__ = [
    "ENDLESS",
    "PATTERN_COST",
    "Charge",
    "Expansion",
    "Extent",
    "LocalReferences",
    "PatternTally",
    "backtracks",
    "extent",
    "find_charge",
    "pattern_size",
    "pattern_steps",
    "patterns_in",
    "steps",
    "texts_of",
]
