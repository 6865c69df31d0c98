"""A name by which one thing refers to another."""

from __future__ import annotations

from stagec.core.place import Place
from stagec.core.value import value


@value
class Mention:
    """A name as written, and where; the name may be wrong, and that is a fact."""

    name: str
    at: Place
