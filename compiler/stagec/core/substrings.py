"""Finds the texts that contain another one without looking at each of them."""

from __future__ import annotations

from collections.abc import Iterable

_LENGTH = 4
"""Characters of the pieces by which texts are found."""
_LONGEST = 4_000
"""Characters of a text whose pieces are kept; a longer one is always looked at."""


class SubstringIndex:
    """Texts, each known by its number, for the question which of them contain another."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._long = [index for index, text in enumerate(self._texts) if len(text) > _LONGEST]
        self._having: dict[str, list[int]] = {}
        for index, text in enumerate(self._texts):
            for each in _list_pieces(text) if len(text) <= _LONGEST else ():
                self._having.setdefault(each, []).append(index)

    def find(self, part: str) -> list[int]:
        """Return the numbers of the texts that contain a text, in their order."""
        rarest = min((self._having.get(each, []) for each in _list_pieces(part)), key=len, default=None)
        possible = range(len(self._texts)) if rarest is None else sorted([*rarest, *self._long])
        return [index for index in possible if part in self._texts[index]]


def _list_pieces(text: str) -> set[str]:
    return {text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1)}
