"""An image in SVG, laid out by stagec itself."""

from __future__ import annotations

from stagec.views.emitters import Emitter, Picture


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    from stagec.views.svg.sheet import sheet

    return sheet(pictures).encode()


EMITTER = Emitter("svg", ".svg", is_text=True, emit=_emit)
"""Drawings of any size are laid out in a moment; only people limit what they can look at."""
