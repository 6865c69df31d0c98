"""Text in the language of Graphviz."""

from __future__ import annotations

from stagec.views.dot import text_of
from stagec.views.emitters import Emitter

EMITTER = Emitter("dot", ".dot", is_text=True, emit=lambda pictures: text_of(pictures).encode())
