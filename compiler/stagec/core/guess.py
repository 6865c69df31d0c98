"""Did you mean, as an offer: a name that was misspelt and the one that was most likely meant."""

from __future__ import annotations

from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import value


@value
class Guess:
    """A misspelt name and what was most likely meant; a fix writes that at the place of a finding, and at others."""

    name: str
    meant: str
    others: tuple[Place, ...] = ()


def guess(name: str, known: NameIndex, *others: Place) -> Guess | None:
    """Return what a name was most likely meant to be, if no other known name is about as near."""
    near = known.guess(name)
    return None if near is None or near == name else Guess(name, near, others)
