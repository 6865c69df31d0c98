"""Lines that build services print and do not obey."""

from __future__ import annotations


def unobeyed(line: str) -> str:
    """Return a line that does not begin with `::`, behind which build services find a command."""
    return line.replace(":", r"\x3a", 1) if line.lstrip().startswith("::") else line
