"""Text in the language of Graphviz."""

from __future__ import annotations

from stagec.dot.text import text_of
from stagec.emitters import Emitter, Picture


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    return text_of(pictures).encode()


EMITTER = Emitter("dot", ".dot", is_text=True, emit=_emit)
