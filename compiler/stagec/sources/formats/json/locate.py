"""Tell on which lines and columns the places of a file are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.place import Part, Place, Span
from stagec.sources.formats.json.outline import Node, outline
from stagec.sources.lines import Lines


def locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    """Return the span of each place of one file.

    For a place that is not there it is the name of the nearest ancestor that is, or its opening bracket when it has
    no name. Of several members with one name the last counts, as it does for the value.
    """
    text = data.decode(errors="replace")
    every = tuple(places)
    lines = Lines(text)
    spans = {place: lines.span(*place.range) for place in every if place.range is not None}
    symbolic = [place for place in every if place.range is None]
    if symbolic:
        root = outline(text, [place.pointer for place in symbolic])
        spans.update((place, lines.span(*_range(root, place))) for place in symbolic)
    return spans


def _range(root: Node, place: Place) -> tuple[int, int]:
    node, depth = root.nearest(place.pointer)
    if depth == len(place.pointer):
        return node.key if node.key and place.part is Part.KEY else (node.start, node.end)
    return node.key or (node.start, min(node.start + 1, node.end))
