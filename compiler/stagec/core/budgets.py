"""How much of the machine one project may ask for."""

from __future__ import annotations

from stagec.core.value import value


@value
class Budgets:
    """How much of the machine one file may ask for; whatever is larger is refused, not tried."""

    file_size: int = 1_000_000
    """Bytes of one file."""
    depth: int = 64
    """Objects and arrays inside each other."""
    nodes: int = 2_000_000
    """Values of one document, aliases counted as often as they are used."""
    pattern_length: int = 1_000
    """Characters of a regular expression in a user's schema."""
