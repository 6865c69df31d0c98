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


def migrate_agent(tree: Tree, found: Findings, has: Callable[[str], bool]) -> None:
    """Find what becomes of the boundaries of an agent; `has` tells whether a file of the project is there."""
    boundaries = object_of(object_of(object_of(tree.value).get("runner")).get("boundaries"))
    at = tree.at / "runner" / "boundaries"
    moved = [member for member in _MOVED if member in boundaries]
    if not moved:
        return
    name = text_in(object_of(tree.value), "name") or ""
    settings = _make_settings(boundaries)
    file = f"{_find_folder(tree.file)}/{_SETTINGS}.{name}.json"
    obstacle = _find_obstacle(boundaries) or _find_taken(tree, file, found, has)
    if obstacle is not None:
        member, what = obstacle
        proposal = f"write {quote(file)}: {json.dumps(settings, ensure_ascii=False)}, then remove {listing(moved)}"
        found.ask(at / member if member in boundaries else at, what, proposal)
        return
    whole = len(moved) == len(boundaries)
    edits = [Edit(Change.REMOVE, at)] if whole else [Edit(Change.REMOVE, at / member) for member in moved]
    found.rewrite(
        at, f"{listing(moved)} {'moves' if len(moved) == 1 else 'move'} to {quote(posixpath.basename(file))}", *edits
    )
    found.create(file, (json.dumps(settings, ensure_ascii=False, indent=2) + "\n").encode(), at)
    if boundaries.get("permissionMode") == "plan":
        what = "'plan' has no effect in 1.14: the kind of a step decides, or its own 'permissionMode'"
        found.ask(at / "permissionMode", what, '"permissionMode": "plan" in the steps that it is meant for')


def _find_folder(file: str) -> str:
    """Return the folder of the settings of an agent: in the `.agent` that it lies in, or in that of the project."""
    top = posixpath.dirname(posixpath.dirname(file))
    return f"{top}/climpt/config" if posixpath.basename(top) == ".agent" else _FOLDER


def _make_settings(boundaries: Object) -> Object:
    tools = [each for each in list_of(boundaries.get("allowedTools")) if isinstance(each, str) and each != "*"]
    permissions: dict[str, Json] = {"allow": tools}
    if text_in(boundaries, "permissionMode") in _MODES:
        permissions["defaultMode"] = boundaries["permissionMode"]
    return {"permissions": permissions}


def _find_obstacle(boundaries: Object) -> tuple[str, str] | None:
    """Return why boundaries have no single meaning in the new release, and the member that says it."""
    tools = boundaries.get("allowedTools", ["*"])
    if not isinstance(tools, list) or not all(isinstance(each, str) for each in tools):
        return "allowedTools", "'allowedTools' is no list of texts"
    if "*" in tools:
        absent = "" if "allowedTools" in boundaries else " (what 1.13 takes where 'allowedTools' is absent)"
        return "allowedTools", f"'*'{absent} has no counterpart: the settings of 1.14 name every tool that is allowed"
    if "permissionMode" in boundaries and boundaries["permissionMode"] not in _MODES:
        return "permissionMode", f"'permissionMode' is none of {listing(_MODES)}"
    return None


def _find_taken(tree: Tree, file: str, found: Findings, has: Callable[[str], bool]) -> tuple[str, str] | None:
    """Return why the settings file of an agent cannot be made."""
    if not _NAME.fullmatch(text_in(object_of(tree.value), "name") or ""):
        return "", "the agent has no name that a settings file can have"
    beside = posixpath.join(posixpath.dirname(tree.file), "_config")
    names = [posixpath.basename(file), f"{_SETTINGS}.json"]
    folders = [posixpath.dirname(file), beside]
    there = next((path for folder in folders for name in names if has(path := f"{folder}/{name}")), None)
    if there is not None:
        return "", f"{quote(there)} is there already and decides what the agent may use"
    return ("", f"two agents would share {quote(file)}") if file in found.created else None
