"""An image in PNG, laid out by Graphviz."""

from __future__ import annotations

from stagec.dot import MOST, lay_out, text_of
from stagec.emitters import Emitter, Limit
from stagec.picture.draw import weigh

EMITTER = Emitter(
    "png",
    ".png",
    is_text=False,
    emit=lambda pictures: lay_out(text_of(pictures), "png"),
    limits=(Limit(MOST, "boxes and lines", weigh),),
)
