"""A part of a marker has no value.

## Why this matters

The first part without `=` is the subtype. Each further one becomes an attribute with an empty value, which no reader
asks for.

## How to fix

Write `name=value`, or remove the part. A colon too many makes an empty part.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import SUBTYPES, MarkedLine
from stagec.protocol.markers import CATEGORIES, Marker
from stagec.rules.markers import has_cut_subtype, rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-bare-attr",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker
    if not isinstance(marker, Marker) or marker.type not in CATEGORIES or has_cut_subtype(line):
        return
    unnamed = marker.type == "STAGE" and not marker.attributes.get("id")
    if unnamed or marker.subtype not in (SUBTYPES.get(marker.type) or (marker.subtype,)):
        return  # rules about the id and the subtype say what is wrong
    alone = [each for each in line.parts if each.text is None]
    for each in alone[1:]:
        if not each.continues:
            what = f"{quote(each.name)} has no value" if each.name else "a part is empty"
            yield Finding(line.place(each), f"{what}; behind the subtype a marker has attributes such as 'id=ID'")
