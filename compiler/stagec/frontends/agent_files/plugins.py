"""Plugins of Claude Code and of Copilot: which of the two tools a folder is a plugin of."""

from __future__ import annotations

import posixpath
from functools import partial

from stagec.core.json import Object, list_of, object_of, text_in
from stagec.frontends.agent_files.known import CLAUDE_CODE, COPILOT
from stagec.sources.read import Sources, join

CLAUDE_MANIFEST = ".claude-plugin/plugin.json"
COPILOT_MANIFEST = ".github/plugin/plugin.json"
_CLAUDE_MARKET = ".claude-plugin/marketplace.json"
_COPILOT_MARKET = ".github/plugin/marketplace.json"


def find_plugin_owner(sources: Sources, root: str) -> str | None:
    """Return the tool whose plugin a folder is, if it is one.

    Copilot also takes the manifest of Claude Code. A plugin with this manifest alone is Copilot's where only a
    marketplace of Copilot lists it.
    """

    def decide() -> str | None:
        is_of_copilot = sources.exists(posixpath.join(root, COPILOT_MANIFEST))
        if sources.exists(posixpath.join(root, CLAUDE_MANIFEST)):
            is_for_copilot = not is_of_copilot and _is_listed(sources, root, _COPILOT_MARKET)
            return COPILOT if is_for_copilot and not _is_listed(sources, root, _CLAUDE_MARKET) else CLAUDE_CODE
        if is_of_copilot or _is_listed(sources, root, _COPILOT_MARKET):
            return COPILOT
        return CLAUDE_CODE if _is_listed(sources, root, _CLAUDE_MARKET) else None  # a manifest can be absent

    return sources.memo.once(("plugin owner", root), decide)


def read_manifest(sources: Sources, root: str) -> Object:
    """Return what the manifest of a plugin of Claude Code says."""
    return read_aside(sources, posixpath.join(root, CLAUDE_MANIFEST))


def _is_listed(sources: Sources, root: str, market: str) -> bool:
    """Tell whether a marketplace in the folder of a plugin, or above it, lists the plugin."""
    folders = [root]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    listing = partial(_list_plugins, sources, market)
    return any(root in sources.memo.once((market, folder), partial(listing, folder)) for folder in folders)


def _list_plugins(sources: Sources, market: str, folder: str) -> frozenset[str]:
    """Return the folders of the plugins that the marketplace of a folder lists, as far as they are in the project."""
    given = read_aside(sources, posixpath.join(folder, market))
    base = text_in(object_of(given.get("metadata")), "pluginRoot") or ""
    named = [source for entry in list_of(given.get("plugins")) if (source := text_in(object_of(entry), "source"))]
    found = {join(folder, posixpath.join(start, source)) for source in named for start in ("", base)}
    return frozenset("" if each == "." else each for each in found if each is not None)


def read_aside(sources: Sources, file: str) -> Object:
    """Return what a file says that is read only to understand others: no rule judges it."""
    is_known = sources.find_tree(file) is not None
    tree = sources.tree(file, "file")
    if not is_known:
        sources.forget(file)
    return object_of(tree.value) if tree is not None else {}
