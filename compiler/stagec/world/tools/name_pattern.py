"""Patterns of file names: `**` stands for any folders, `*` and `?` for what is inside one name."""

from __future__ import annotations

from stagec.world.tools.toolbox import ToolError

_LONGEST = 1_000
"""Characters of a pattern."""
_ANY = "**"


class NamePattern:
    """One pattern; what matching costs is bounded by the product of both lengths, whatever a model writes."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ToolError(f"the pattern has more than {_LONGEST:,} characters")
        self._parts = tuple(text.split("/"))

    def matches(self, path: str) -> bool:
        """Tell whether a path, whose names are separated by `/`, is meant."""
        parts, states = self._parts, self._skip({0})
        for name in path.split("/"):
            moved = {at for at in states if at < len(parts) and parts[at] == _ANY}
            moved |= {at + 1 for at in states if at < len(parts) and parts[at] != _ANY and _fits(parts[at], name)}
            states = self._skip(moved)
        return len(parts) in states

    def _skip(self, states: set[int]) -> set[int]:
        """Add the states behind folders of which there may be none."""
        found = set(states)
        for at in sorted(states):
            after = at
            while after < len(self._parts) and self._parts[after] == _ANY:
                after += 1
                found.add(after)
        return found


def _fits(pattern: str, name: str) -> bool:
    """Tell whether one name fits a part of a pattern; only the last star is ever tried again."""
    at = position = 0
    star, mark = -1, 0
    while position < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, position, at + 1
        elif at < len(pattern) and pattern[at] in {"?", name[position]}:
            at, position = at + 1, position + 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")
