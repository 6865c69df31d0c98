"""Facts about the tools that own agent files, which depend on their versions and on names of the project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.value import NOTHING, value

_FACTS = "facts"
"""The folder with one file for each tool."""
CLAUDE_CODE = "Claude Code"
COPILOT = "Copilot"
GH_AW = "gh-aw"
OPENCODE = "OpenCode"
CODEX = "Codex"


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

    def aliases(self, group: str, owner: str = CLAUDE_CODE) -> Mapping[str, Any]:
        """Return the present meaning of the names of a list."""
        found: Mapping[str, Any] = self.data[owner].get(group, NOTHING)
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
    """Return the data about tools that comes with stagec: each has its names, kinds of files and rows of values."""
    import json  # most projects have no agent files

    folder = os.path.join(os.path.dirname(__file__), _FACTS)
    found: dict[str, Any] = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            data = json.load(file)
        found[data["tool"]] = data
    return found


_ON = frozenset({"true", "yes", "on", "1"})
_OFF = frozenset({"false", "no", "off", "0"})


def is_on(given: Json) -> bool:
    """Tell whether a value switches something on."""
    return str(given).strip().lower() in _ON


def is_off(given: Json) -> bool:
    """Tell whether a value switches something off; a value that is absent does not."""
    return str(given).strip().lower() in _OFF
