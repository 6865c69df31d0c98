"""Which files make a catalogue: the tools file, `.mcp.json` and the lock, each judged once."""

from __future__ import annotations

import posixpath
import re

from stagec.contract.expansion import judge_expansion
from stagec.core.json import Json
from stagec.core.nearest import NameIndex
from stagec.core.value import replace, value
from stagec.sources.read import Sources, legible
from stagec.sources.shape import judge, judge_schema
from stagec.sources.tree import Tree

TOOLS = ("tools.yaml", "tools.yml", "tools.json")
SERVERS = ".mcp.json"
LOCK = "tools.lock.json"
SECTIONS = NameIndex(("bundled", "discovered"))
_MARKS = re.compile(rb"\b(?:bundled|discovered|mcp)[\"']?\s*:")
_ROOM = 10
"""A lock of ten thousand tools is no source that somebody wrote: so many times the usual size is read."""


@value
class CatalogueFiles:
    """The files of one catalogue, judged; `lock_file` is where the lock is or would be."""

    file: str
    tools: Tree | None
    servers: Tree | None
    lock: Tree | None
    lock_file: str


def find_catalogue(sources: Sources, folder: str) -> str | None:
    """Return the file of the catalogue that counts in a folder when none is named, if there is one."""
    for name in TOOLS:
        file = posixpath.join(folder, name)
        if sources.exists(file) and (sources.is_closed(file) or is_catalogue(sources, file)):
            return file
    return _servers_for(sources, folder)


def bundle(sources: Sources, file: str) -> CatalogueFiles | None:
    """Return the files of the catalogue that begins with one of them; nothing when that is not there."""
    folder, name = posixpath.split(file)
    tools = None if name == SERVERS else _judge_once(sources, file, "tools")
    beside = file if name == SERVERS else _servers_for(sources, folder)
    servers = None if beside is None else _judge_once(sources, beside, "mcp")
    if (servers if name == SERVERS else tools) is None:
        return None
    lock = posixpath.join(folder, LOCK)
    return CatalogueFiles(file, tools, servers, lock_tree(sources, lock), lock)


def lock_tree(sources: Sources, file: str) -> Tree | None:
    """Return a lock as read and judged."""
    return _judge_once(sources, file, "tools_lock", _ROOM)


def is_catalogue(sources: Sources, file: str) -> bool:
    """Tell whether a file called like a catalogue is one; what another program calls `tools.json` is forgotten."""
    tree = sources.tree(file, "file")
    is_one = tree is not None and (tree.kind == "tools" or resembles_catalogue(tree))
    if not is_one:
        sources.forget(file)
    return is_one


def resembles_catalogue(tree: Tree) -> bool:
    """Tell whether a file reads like a catalogue, be it misspelt or broken."""
    if not tree.readable:
        return _MARKS.search(legible(tree.data)) is not None
    return isinstance(tree.value, dict) and any(_is_section(key, each) for key, each in tree.value.items())


def _is_section(key: str, given: Json) -> bool:
    if key.lower() == "mcp":
        return isinstance(given, dict) and all(isinstance(each, dict) for each in given.values())
    return SECTIONS.nearest(key) is not None and not isinstance(given, str)


def _servers_for(sources: Sources, folder: str) -> str | None:
    """Return the file of MCP servers that counts in a folder: the one in it, else the one of the project."""
    return next((file for file in (posixpath.join(folder, SERVERS), SERVERS) if sources.exists(file)), None)


def _judge_once(sources: Sources, file: str, schema: str, room: int = 1) -> Tree | None:
    tree = sources.tree(file, "file", room)
    if tree is None or tree.kind == schema:
        return tree
    tree = judge(replace(tree, kind=schema), schema)
    sources.replace(tree)
    return tree


def judge_input(sources: Sources, file: str) -> None:
    """Judge the file of a tool's input schema, unless that was done by another who refers to it."""
    tree = sources.tree(file, "schema")
    if tree is None or tree.kind not in {"schema", "file"}:
        return
    known = len(tree.faults)
    found = judge_expansion(sources, judge_schema(tree, sources.budgets, sources.patterns))
    if found.faults[known:] and found.faults[known] not in tree.faults:
        sources.replace(found)
