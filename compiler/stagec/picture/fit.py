"""Drawings small enough for a format: what is too large is drawn by cycle, and if that is not enough by phase."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.value import replace
from stagec.picture.collapse import By, collapse
from stagec.picture.document import Picture


def weight(pictures: Iterable[Picture]) -> int:
    """Return how large drawings are: their boxes and lines, which is what laying out takes its time for."""
    return sum(len(picture.boxes) + len(picture.lines) for picture in pictures)


def fit(pictures: tuple[Picture, ...], most: int) -> tuple[Picture, ...]:
    """Return drawings that together weigh no more than so much, or the smallest there are; each says what was done."""
    for by in By:
        if weight(pictures) <= most:
            break
        share = most // len(pictures)
        pictures = tuple(_smaller(picture, by) if weight([picture]) > share else picture for picture in pictures)
    return pictures


def _smaller(picture: Picture, by: By) -> Picture:
    made = collapse(picture, by)
    if made is picture:
        return picture
    large = f"{len(picture.boxes)} boxes and {len(picture.lines)} lines are too many to lay out"
    return replace(made, remarks=(*made.remarks, large))
