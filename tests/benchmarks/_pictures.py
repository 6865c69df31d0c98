"""Large drawings as pages, each made by a process of its own."""

from __future__ import annotations

from pathlib import Path

from stagec_dev.cost import python

_PROGRAM = """
from stagec.emitters import Box, Line, Picture, Role, Stroke
from stagec.emitters.html import EMITTER
count = {count}
known = {{"definition": {{"text": "x" * 200}}}}
boxes = {{str(at): Box(str(at), f"step.{{at}}", Role.NODE, "work", details=known) for at in range(count)}}
chain = [Line(str(at), str(at + 1), Stroke.GO, ("next",)) for at in range(count - 1)]
others = [Line(str(at), str(at * 7919 % (at + 30) % count), Stroke.GO, ("repeat",)) for at in range(count)]
EMITTER.emit((Picture("p", "p", boxes, (*chain, *others)),))
"""


def seconds(folder: Path, count: int) -> float:
    """Return the processor time of writing the page of a flow of so many nodes, two lines for each."""
    return python(_PROGRAM.format(count=count), folder, runs=3).seconds()
