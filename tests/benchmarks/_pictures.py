"""Large drawings in some format, each made by a process of its own."""

from __future__ import annotations

from pathlib import Path

from stagec_dev.cost import python

_PROGRAM = """
from stagec.views import emitters
from stagec.core.shelf import member
from stagec.views.dot import lay_out
from stagec.views.dot import text_of
from stagec.views.emitters import Box, Emitter, Line, Picture, Role, Stroke
count = {count}
known = {{"definition": {{"text": "x" * 200}}}}
boxes = {{str(at): Box(str(at), f"step.{{at}}", Role.NODE, "work", details=known) for at in range(count)}}
chain = [Line(str(at), str(at + 1), Stroke.GO, ("next",)) for at in range(count - 1)]
others = [Line(str(at), str(at * 7919 % (at + 30) % count), Stroke.GO, ("repeat",)) for at in range(count)]
pictures = (Picture("p", "p", boxes, (*chain, *others)),)
{emit}
"""


PAGE = 'member(emitters, "html", Emitter).emit(pictures)'
IMAGE = 'member(emitters, "svg", Emitter).emit(pictures)'
GRAPHVIZ = 'lay_out(text_of(pictures), "svg")'


def seconds(folder: Path, count: int, emit: str = PAGE) -> float:
    """Return the processor time of writing the drawing of a flow of so many nodes, two lines for each."""
    return python(_PROGRAM.format(count=count, emit=emit), folder, runs=3).seconds()
