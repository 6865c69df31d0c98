"""Read the files of a catalogue: keep the valid tools and servers, leave out the others."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.ir.catalogue.document import (
    Catalogue,
    CatalogueServer,
    CatalogueTool,
    Effects,
    Origin,
    ToolLabels,
    well_known_effects,
)
from stagec.ir.catalogue.lock import Lock, digest, read_lock
from stagec.ir.rights import Label
from stagec.sources.contract.expansion import judge_expansion
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.read import Sources, join, legible
from stagec.sources.shape import judge, judge_schema
from stagec.sources.tree import Tree

LABELLING = "labels"
READING, DOING = "reads", "effects"
_LABELS: Mapping[str, Label] = {each.value: each for each in Label}
_CHANGES: Mapping[str, bool] = {"read": False, "mutating": True}


def list_labels(tree: Tree | None) -> Iterator[tuple[str, ToolLabels]]:
    """Yield the labels of a tools file for patterns of tool names."""
    for pattern, body in object_of(object_of(tree.value).get(LABELLING)).items() if tree is not None else ():
        labels = read_labels(object_of(body), tree.at / LABELLING / pattern) if tree is not None else None
        if labels is not None:
            yield pattern, labels


def read_labels(body: Object, at: Place) -> ToolLabels | None:
    """Return the declared effects of a tool; None if there are none."""
    reads, given = _label(body.get(READING)), body.get(DOING)
    changes = _CHANGES.get(given) if isinstance(given, str) else None
    does = None if changes is not None else _label(given)
    if reads is None and does is None and changes is None:
        return None
    return ToolLabels(reads, does, changes, at / (READING if reads is not None else DOING))


def _label(given: Json) -> frozenset[Label] | None:
    """Return the labels in a list, or the one that stands for a list of one."""
    if not isinstance(given, str | list):
        return None
    words = [given] if isinstance(given, str) else given
    return frozenset(_LABELS[each] for each in words if isinstance(each, str) and each in _LABELS)


def find_effects(name: str, labels: ToolLabels | None) -> Effects:
    """Return whether calling a tool changes something, as its entry says, else as its name does."""
    if labels is None or (labels.does is None and labels.changes is None):
        return well_known_effects(name)
    changes = labels.changes if labels.does is None else Label.WRITE in labels.does
    return Effects.MUTATING if changes else Effects.READ


TOOLS = ("tools.yaml", "tools.yml", "tools.json")
SERVERS = ".mcp.json"
LOCK = "tools.lock.json"
SECTIONS = NameIndex(("bundled", "discovered"))
_MARKS = re.compile(rb"\b(?:bundled|discovered|mcp)[\"']?\s*:")
LOCK_ROOM = 10
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
    """Return the files of the catalogue that begins with one of them; None if that is not there."""
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
    return _judge_once(sources, file, "tools_lock", LOCK_ROOM)


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
    if key == LABELLING:
        return isinstance(given, dict) and any({READING, DOING} & object_of(each).keys() for each in given.values())
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


N = TypeVar("N", CatalogueServer, CatalogueTool)
_SERVERS = ("mcpServers", "servers")
_PLUGIN = ".claude-plugin/plugin.json"
"""The file beside the `.mcp.json` of a plugin of Claude Code."""
ADDRESSES = ("url", "serverUrl", "httpUrl")
"""Under which keys hosts keep the address of a server."""
_HARMLESS = {"byte-order-mark"}


def read_catalogue(sources: Sources, file: str) -> Catalogue | None:
    """Return the catalogue that begins with a tools file or a `.mcp.json`; None if there is no such file."""
    found = bundle(sources, file)
    return None if found is None else _catalogue(sources, found)


def launch_digest(server: CatalogueServer) -> str:
    """Return the digest of how a server is started; of its environment and headers only the names count."""
    names = {"env": sorted(server.env), "headers": sorted(server.headers)}
    how = {"command": server.command, "args": list(server.args), "cwd": server.cwd, "url": server.url}
    return digest({**how, **names})


def _catalogue(sources: Sources, files: CatalogueFiles) -> Catalogue:
    bare = _find_bare_servers(sources, files.servers)
    every = [*_servers(files.tools, ("mcp",)), *_servers(files.servers, _SERVERS)]
    every += [] if files.servers is None else _list_servers(bare, files.servers.at)
    servers = _first_of_each(every)
    lock = None if files.lock is None else read_lock(files.lock.at, files.lock.value)
    unlocked = tuple(each for each in servers.values() if lock is None or each.name not in lock.servers)
    stale, labels = tuple(_stale(servers, lock)), tuple(list_labels(files.tools))
    faulty = frozenset(_faulty(files.tools, files.servers, files.lock))
    tools = (*_own_tools(sources, files.tools), *_list_locked_tools(servers, lock))
    by_name = _first_of_each(tools)
    return Catalogue(
        at=Place(files.file),
        file=files.file,
        tools=tools,
        by_name=by_name,
        names=NameIndex(by_name),
        servers=servers,
        rivals=tuple(each for each in every if servers[each.name] is not each),
        servers_file=None if files.servers is None else files.servers.file,
        lock_file=files.lock_file,
        lock=lock,
        unlocked=unlocked,
        stale=stale,
        serverless=() if bare else tuple(_serverless(files.servers)),
        faulty=faulty,
        is_whole=files.tools is not None and not (unlocked or stale or faulty),
        labels=labels,
    )


def _first_of_each(every: Iterable[N]) -> dict[str, N]:
    """Return the first object of each name, by name."""
    found: dict[str, N] = {}
    for each in every:
        found.setdefault(each.name, each)
    return found


def _faulty(*trees: Tree | None) -> Iterator[str]:
    for tree in trees:
        if tree is not None and any(fault.topic not in _HARMLESS for fault in tree.faults):
            yield tree.file


def _stale(servers: Mapping[str, CatalogueServer], lock: Lock | None) -> Iterator[CatalogueServer]:
    for name, locked in lock.servers.items() if lock is not None else ():
        if name in servers and launch_digest(servers[name]) != locked.launch:
            yield servers[name]


def _serverless(tree: Tree | None) -> Iterator[tuple[Place, tuple[str, ...]]]:
    if tree is not None and isinstance(tree.value, dict) and not any(key in tree.value for key in _SERVERS):
        yield tree.at, tuple(tree.value)


def _find_bare_servers(sources: Sources, tree: Tree | None) -> Object:
    """Return the servers at the top of a file, where Claude Code finds those of a plugin, too."""
    given = object_of(None if tree is None else tree.value)
    if tree is None or any(key in given for key in _SERVERS):
        return {}
    if not sources.exists(posixpath.join(posixpath.dirname(tree.file), _PLUGIN)):
        return {}
    return {name: each for name, each in given.items() if not {"command", *ADDRESSES}.isdisjoint(object_of(each))}


def _own_tools(sources: Sources, tree: Tree | None) -> Iterator[CatalogueTool]:
    if tree is None:
        return
    schemas, root, known = Schemas(sources), object_of(tree.value), Memo()
    for origin in (Origin.BUNDLED, Origin.DISCOVERED):
        for index, entry in enumerate(list_of(root.get(origin.value))):
            tool = _tool(entry, tree.at / origin.value / index, origin, schemas)
            if tool is not None:
                yield _with_schema(sources, tool, known)


def _tool(entry: Json, at: Place, origin: Origin, schemas: Schemas) -> CatalogueTool | None:
    if isinstance(entry, str):
        return CatalogueTool(entry, at, at, origin, well_known_effects(entry)) if entry else None
    body = object_of(entry)
    name, reference = text_in(body, "name"), text_in(body, "schema")
    if not name:
        return None
    labels = read_labels(body, at)
    return CatalogueTool(
        name=name,
        at=at / "name",
        entry=at,
        origin=origin,
        effects=find_effects(name, labels),
        reference=reference,
        schema=schemas.resolve(reference, at.file) if reference else None,
        description=text_in(body, "description"),
        command=tuple(each for each in list_of(body.get("command")) if isinstance(each, str)),
        labels=labels,
    )


def _with_schema(sources: Sources, tool: CatalogueTool, known: Memo) -> CatalogueTool:
    """Have the schema of a tool judged, or look for what its name was meant to be."""
    if isinstance(tool.schema, Schema):
        judge_input(sources, tool.schema.at.file)
    file = join(posixpath.dirname(tool.at.file), (tool.reference or "").partition("#")[0])
    if tool.schema is not Miss.NO_FILE or file is None:
        return tool
    folder, suffix = posixpath.dirname(file), posixpath.splitext(file)[1]
    near = known.once((folder, suffix), lambda: NameIndex(sources.below(folder, suffix))).nearest(file)
    return replace(tool, near=near and posixpath.relpath(near, posixpath.dirname(tool.at.file) or "."))


def _list_locked_tools(servers: Mapping[str, CatalogueServer], lock: Lock | None) -> Iterator[CatalogueTool]:
    """Yield the tools of the servers that are still there."""
    for name, server in lock.servers.items() if lock is not None else ():
        for tool in server.tools.values() if name in servers else ():
            entry = server.at / "tools" / tool.name
            read = CatalogueTool(tool.name, tool.at, entry, Origin.MCP, tool.effects, server=name)
            yield replace(read, digest=tool.schema, described=tool.description)


def _servers(tree: Tree | None, members: tuple[str, ...]) -> Iterator[CatalogueServer]:
    if tree is None:
        return
    for member in members:
        yield from _list_servers(object_of(object_of(tree.value).get(member)), tree.at / member)


def _list_servers(given: Object, at: Place) -> Iterator[CatalogueServer]:
    for name, body in given.items():
        if isinstance(body, dict) and body.get("disabled") is not True:
            yield CatalogueServer(
                name=name,
                at=at / name,
                command=text_in(body, "command"),
                args=tuple(each for each in list_of(body.get("args")) if isinstance(each, str)),
                env=_texts(body.get("env")),
                cwd=text_in(body, "cwd"),
                url=next((url for key in ADDRESSES if (url := text_in(body, key))), None),
                headers=_texts(body.get("headers")),
                transport=text_in(body, "type"),
                members=tuple(body),
            )


def _texts(given: Json) -> Mapping[str, str]:
    return {name: each for name, each in object_of(given).items() if isinstance(each, str)}


def find_nearby(sources: Sources, file: str) -> Catalogue | None:
    """Return the catalogue nearest to a file."""
    folder = posixpath.dirname(file)
    while True:
        found = find_catalogue(sources, folder)
        if found is not None:
            return read_catalogue(sources, found)
        if not folder:
            return None
        folder = posixpath.dirname(folder)
