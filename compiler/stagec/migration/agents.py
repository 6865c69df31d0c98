"""Agent definitions: what an agent may use moves to a settings file."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.words import listing, quote
from stagec.migration.report import Findings
from stagec.sources.tree import Tree

_MOVED = ("allowedTools", "permissionMode")
_MODES = ("default", "plan", "acceptEdits", "bypassPermissions")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SETTINGS = "claude.settings.climpt.agents"
_FOLDER = ".agent/climpt/config"


class AgentMigration:
    """Finds what becomes of the boundaries of an agent; `has` tells whether a file of the project is there."""

    def __init__(self, tree: Tree, found: Findings, has: Callable[[str], bool]) -> None:
        root = object_of(tree.value)
        self._boundaries = object_of(object_of(root.get("runner")).get("boundaries"))
        self._at = tree.at / "runner" / "boundaries"
        self._found = found
        self._has = has
        self._name = text_in(root, "name") or ""
        # the folder of the settings: in the `.agent` that the agent lies in, or in that of the project
        top = posixpath.dirname(posixpath.dirname(tree.file))
        self._folder = f"{top}/climpt/config" if posixpath.basename(top) == ".agent" else _FOLDER
        self._file = f"{self._folder}/{_SETTINGS}.{self._name}.json"

    def find_all(self) -> None:
        """Find the changes of the agent, and what is open."""
        moved = [member for member in _MOVED if member in self._boundaries]
        if not moved:
            return
        settings = self._make_settings()
        obstacle = self._find_obstacle() or self._find_taken()
        if obstacle is not None:
            member, what = obstacle
            text = json.dumps(settings, ensure_ascii=False)
            proposal = f"write {quote(self._file)}: {text}, then remove {listing(moved)}"
            self._found.ask(self._at / member if member in self._boundaries else self._at, what, proposal)
            return
        places = [self._at] if len(moved) == len(self._boundaries) else [self._at / member for member in moved]
        what = f"{listing(moved)} {'moves' if len(moved) == 1 else 'move'} to {quote(posixpath.basename(self._file))}"
        self._found.rewrite(self._at, what, *(Edit(Change.REMOVE, place) for place in places))
        data = json.dumps(settings, ensure_ascii=False, indent=2) + "\n"
        self._found.create(self._file, data.encode(), self._at)
        if self._boundaries.get("permissionMode") == "plan":
            what = "'plan' has no effect in 1.14: the kind of a step decides, or its own 'permissionMode'"
            proposal = '"permissionMode": "plan" in the steps that it is meant for'
            self._found.ask(self._at / "permissionMode", what, proposal)

    def _make_settings(self) -> Object:
        given = list_of(self._boundaries.get("allowedTools"))
        permissions: dict[str, Json] = {"allow": [each for each in given if isinstance(each, str) and each != "*"]}
        if text_in(self._boundaries, "permissionMode") in _MODES:
            permissions["defaultMode"] = self._boundaries["permissionMode"]
        return {"permissions": permissions}

    def _find_obstacle(self) -> tuple[str, str] | None:
        """Return why boundaries have no single meaning in the new release, and the member that says it."""
        tools = self._boundaries.get("allowedTools", ["*"])
        if not isinstance(tools, list) or not all(isinstance(each, str) for each in tools):
            return "allowedTools", "'allowedTools' is not a list of texts"
        if "*" in tools:
            absent = "" if "allowedTools" in self._boundaries else " (what 1.13 takes where 'allowedTools' is absent)"
            return (
                "allowedTools",
                f"'*'{absent} has no counterpart: the settings of 1.14 name every tool that is allowed",
            )
        if "permissionMode" in self._boundaries and self._boundaries["permissionMode"] not in _MODES:
            return "permissionMode", f"'permissionMode' is none of {listing(_MODES)}"
        return None

    def _find_taken(self) -> tuple[str, str] | None:
        """Return why the settings file of an agent cannot be made."""
        if not _NAME.fullmatch(self._name):
            return "", "the agent has no name that a settings file can have"
        beside = posixpath.join(posixpath.dirname(self._at.file), "_config")
        names = [posixpath.basename(self._file), f"{_SETTINGS}.json"]
        paths = [f"{folder}/{name}" for folder in (self._folder, beside) for name in names]
        there = next(filter(self._has, paths), None)
        if there is not None:
            return "", f"{quote(there)} is there already and decides what the agent may use"
        return ("", f"two agents would share {quote(self._file)}") if self._file in self._found.created else None
