"""STG800 to STG849: markers in the output of stages, line by line."""

import re

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Family
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import Marker

FAMILY = Family(__name__, (range(800, 850),), MarkedLine)
rule = FAMILY.rule

_LONGEST = 60
"""Characters of a name that somebody may have misspelt."""


def suggest(name: str, names: NameIndex) -> str:
    """Return the known name that is nearest, as the end of a sentence."""
    return hint(name, names) if len(name) <= _LONGEST else ""


def describe_subtype(marker: Marker) -> str:
    """Return the subtype of a marker for a sentence about it."""
    return f"subtype {quote(marker.subtype)}" if marker.subtype is not None else "no subtype"


def has_cut_subtype(line: MarkedLine) -> bool:
    """Tell whether the rest of a value that a colon has cut in two stands where the subtype should."""
    alone = [each for each in line.parts if each.text is None]
    return bool(alone) and alone[0].continues


NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""What a percentage is written as."""
