"""Chance that leans: what is made at random shows one kind of thing more often than usual, where that is wanted."""

from __future__ import annotations

from random import Random
from typing import Self

_LIKELY = 0.85


class Chance(Random):
    """Random choices, the same ones for the same name, seed and lean."""

    def __new__(cls, *_given: object) -> Self:
        return super().__new__(cls)

    def __init__(self, name: str, seed: int, lean: str = "") -> None:
        super().__init__(f"{name} {seed} {lean}")
        self.lean, _, self.detail = lean.partition(" ")

    def likely(self, usual: float, *leans: str) -> bool:
        """Tell whether something is so: as often as usual, and mostly where it is what is leant to."""
        return self.random() < (max(usual, _LIKELY) if self.lean in leans else usual)

    def safely(self, usual: float) -> bool:
        """Tell whether something is so that keeps a project sound: mostly, where anything is leant to."""
        return self.random() < (max(usual, _LIKELY) if self.lean else usual)

    def seldom(self, usual: float) -> bool:
        """Tell whether something is so that few sound projects have: hardly ever, where anything is leant to."""
        return self.random() < (usual / 4 if self.lean else usual)
