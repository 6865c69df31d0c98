"""An image in PNG, laid out by Graphviz."""

from __future__ import annotations

from stagec.dot.program import MOST, lay_out
from stagec.dot.text import text_of
from stagec.emitters import Emitter, Picture


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    return lay_out(text_of(pictures), "png")


EMITTER = Emitter("png", ".png", is_text=False, emit=_emit, most=MOST)
