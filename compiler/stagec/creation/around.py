"""What a project says besides its agent files: settings with permissions and hooks, and MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.catalogue import read_catalogue
from stagec.core.json import Object, list_of, object_of
from stagec.core.memo import Memo
from stagec.core.value import NOTHING, value
from stagec.creation.new_project import Loss
from stagec.frontends.agent_files.known import Known, read_data
from stagec.sources.read import Sources

SERVERS = ".mcp.json"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
TAKEN = frozenset({SERVERS, *_SETTINGS})
"""Files that are no stages; what counts of them is taken over, and the rest is told key by key."""
_BARE = re.compile(r"[\w-]+")


@value
class Around:
    """What is known of the tools of a project.

    `denied` are those that its settings deny to every agent. `offered` has the tools of each server that counts, None
    where no lock says them. `losses` is what the settings say and no stage can.
    """

    known: Known
    denied: frozenset[str] = frozenset()
    offered: Mapping[str, tuple[str, ...] | None] = NOTHING
    losses: tuple[Loss, ...] = ()


def look_around(sources: Sources, *, with_servers: bool) -> Around:
    """Return what the root of a project says; its servers count where the new project lies in it."""
    losses: list[Loss] = []
    denied: set[str] = set()
    for file in _SETTINGS:
        tree = sources.tree(file, "file")
        if tree is not None and isinstance(tree.value, dict):
            text = tree.data.decode(errors="replace")
            rules = object_of(tree.value.get("permissions"))
            denied |= {each for each in list_of(rules.get("deny")) if isinstance(each, str) and _BARE.fullmatch(each)}
            for key, why in _list_lost(tree.value, rules):
                losses.append(Loss(file, text.count("\n", 0, max(text.find(f'"{key}"'), 0)) + 1, key, why))
    offered = dict(_list_offered(sources)) if with_servers and sources.exists(SERVERS) else {}
    return Around(Known(read_data(), Memo()), frozenset(denied), offered, tuple(losses))


def _list_lost(settings: Object, rules: Object) -> Iterator[tuple[str, str]]:
    """Yield the keys of settings that a stage has nothing for."""
    limited = [each for each in list_of(rules.get("deny")) if isinstance(each, str) and not _BARE.fullmatch(each)]
    if limited:
        yield "deny", f"a stage allows a tool whatever its arguments: {', '.join(limited)} is lost"
    if rules.get("ask"):
        yield "ask", "a stage calls its tools without asking a person"
    if settings.get("hooks"):
        yield "hooks", "hooks do not run in stages: a guard that refuses calls of tools is lost"


def _list_offered(sources: Sources) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    catalogue = read_catalogue(sources, SERVERS)
    if catalogue is None:
        return
    unlocked = {each.name for each in (*catalogue.unlocked, *catalogue.stale)}
    for name in catalogue.servers:
        tools = tuple(each.name for each in catalogue.tools if each.server == name)
        yield name, None if name in unlocked else tools
