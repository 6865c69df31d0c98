"""An image in PNG, laid out by Graphviz."""

from __future__ import annotations

from stagec.views.dot import MOST, lay_out, text_of
from stagec.views.emitters import Emitter, Limit
from stagec.views.picture.draw import weigh

EMITTER = Emitter(
    "png",
    ".png",
    is_text=False,
    emit=lambda pictures: lay_out(text_of(pictures), "png"),
    limits=(Limit(MOST, "boxes and lines", weigh),),
)
