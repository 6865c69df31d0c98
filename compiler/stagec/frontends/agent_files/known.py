"""What is known of the tools that own agent files: names that change with their versions, and those of the project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.value import NOTHING, value

_DATA = "known.json"
CLAUDE_CODE = "Claude Code"
COPILOT = "Copilot"


@value
class Known:
    """The data about tools, by the name of the tool, and what a project adds to its lists.

    `added` has lists of names by the name of the list, such as `tools`; they count for every tool.
    """

    data: Mapping[str, Any]
    memo: Memo
    added: Mapping[str, tuple[str, ...]] = NOTHING

    def names(self, group: str, owner: str = CLAUDE_CODE) -> NameIndex:
        """Return the names of a list, those that the project adds included."""
        given = (*self.data[owner].get(group, ()), *self.added.get(group, ()))
        return self.memo.once((owner, group), lambda: NameIndex(given))

    def aliases(self, group: str, owner: str = CLAUDE_CODE) -> Mapping[str, str | None]:
        """Return what the names of a list mean now."""
        found: Mapping[str, str | None] = self.data[owner].get(group, NOTHING)
        return found

    def keys(self, kind: str, owner: str = CLAUDE_CODE) -> NameIndex:
        """Return the keys that a kind of files has."""
        given = (*self.data[owner]["keys"].get(kind, ()), *self.added.get("keys", ()))
        return self.memo.once((owner, "keys", kind), lambda: NameIndex(given))

    def version(self, owner: str = CLAUDE_CODE) -> str:
        """Return the tool with the version that its lists were read from: `Claude Code 2.1.330`."""
        return f"{owner} {self.data[owner]['version']}"


@cache
def read_data() -> Mapping[str, Any]:
    """Return the data about tools that comes with stagec."""
    import json  # most projects have no agent files

    with open(os.path.join(os.path.dirname(__file__), _DATA), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found
