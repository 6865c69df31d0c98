"""Tool catalogues: their tools and servers, with the labels of what tools read and do."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import translate
from functools import cache
from typing import Any

from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.ir.catalogue.lock import Effects, Lock, LockedTool
from stagec.ir.rights import Label, Labelled, Teller
from stagec.sources.contract.schemas import Miss, Schema

__all__ = [
    "DOES",
    "READS",
    "WELL_KNOWN",
    "Catalogue",
    "CatalogueServer",
    "CatalogueTool",
    "Effects",
    "LabelBook",
    "Origin",
    "ToolLabels",
    "combine",
    "is_agent",
    "list_scripts",
    "list_words",
    "pick",
    "read_data",
    "well_known_effects",
]


class Origin(StrEnum):
    """The origin of a tool."""

    BUNDLED = "bundled"
    DISCOVERED = "discovered"
    MCP = "mcp"


_READING = ("Read", "Grep", "Glob")
_MUTATING = ("Edit", "Write", "Bash", "NotebookEdit")
WELL_KNOWN: Mapping[str, Effects] = {
    **{each: Effects.READ for name in _READING for each in (name, name.lower())},
    **{each: Effects.MUTATING for name in _MUTATING for each in (name, name.lower())},
}
"""Tools that most hosts bring along, and what calling them may do."""


def well_known_effects(name: str) -> Effects:
    """Return the effects of a tool of which only the name is known: what a few well-known names promise."""
    return WELL_KNOWN.get(name, Effects.UNKNOWN)


@value
class ToolLabels:
    """The declared effects of a tool; None if nothing is declared.

    `changes` is the value of `effects: read` and `effects: mutating`, which do not tell whether the tool sends data.
    """

    reads: frozenset[Label] | None = None
    does: frozenset[Label] | None = None
    changes: bool | None = None
    at: Place | None = None
    teller: Teller = Teller.CATALOGUE


@value
class CatalogueTool:
    """One tool that can be called.

    `at` is where its name is written, `entry` all that is written about it; for a tool of an MCP server both are in
    the lock. `reference` is the schema file as written and `schema` what became of it; of a server's tool only the
    `digest` of its schema and that of its description, `described`, are known. `near` is the nearest name of a schema
    file that is there, when it is not. `command` is the argument vector of the program that carries calls out, if one
    does.
    """

    name: str
    at: Place
    entry: Place
    origin: Origin
    effects: Effects
    server: str | None = None
    reference: str | None = None
    schema: Schema | Miss | None = None
    digest: str | None = None
    described: str | None = None
    near: str | None = None
    description: str | None = None
    command: tuple[str, ...] = ()
    labels: ToolLabels | None = None
    """The reads and effects that its entry declares, if any."""


@value
class CatalogueServer:
    """An MCP server: how it is started, or the address where it runs.

    `at` is all that is written about it. `cwd` is as written, relative to the folder of the file that names it.
    """

    name: str
    at: Place
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = NOTHING
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = NOTHING
    transport: str | None = None
    members: tuple[str, ...] = ()
    """Its members by name, well formed or not."""

    def is_started_like(self, other: CatalogueServer) -> bool:
        """Tell whether two definitions mean the same server."""
        return self == replace(other, name=self.name, at=self.at, members=self.members)


@value
class Catalogue:
    """The tools of a project, and how much of them is known.

    `tools` are all of them in the order of the files, those with a name that another has included; of these `by_name`
    has the first. `servers` are all that count, by name; `rivals` are further ones under a name that is taken.
    `unlocked` are the servers of which the lock says nothing, `stale` those that it knows started otherwise. Only when
    the catalogue `is_whole` can it be said that a name is not in it; it is not if a file is broken, if a server has no
    valid lock, or if there is only a `.mcp.json`, which does not list the tools of the host.
    """

    at: Place
    file: str
    tools: tuple[CatalogueTool, ...]
    by_name: Mapping[str, CatalogueTool]
    names: NameIndex
    servers: Mapping[str, CatalogueServer]
    rivals: tuple[CatalogueServer, ...]
    servers_file: str | None
    lock_file: str
    lock: Lock | None
    unlocked: tuple[CatalogueServer, ...]
    stale: tuple[CatalogueServer, ...]
    serverless: tuple[tuple[Place, tuple[str, ...]], ...]
    """Files of MCP servers that have no member with servers, and the members they have."""
    faulty: frozenset[str]
    """The files of the catalogue with which something is wrong."""
    is_whole: bool
    labels: tuple[tuple[str, ToolLabels], ...] = ()
    """The labels of the catalogue for patterns of tool names, in this order."""

    def guess_meant(self, name: str) -> tuple[str, ...]:
        """Return the tool that a name means, which may be misspelt, or a server and its tool."""
        if name in self.by_name:
            return (name,)
        return foreign_name(name, self.servers) or (self.names.nearest(name) or name,)


_NO_LETTER = re.compile(r"[^\w-]")


def foreign_name(name: str, servers: Iterable[str]) -> tuple[str, str] | None:
    """Return the server and the tool that a name such as `mcp__files__read_file` or `files/read_file` means.

    The tool is empty, or `*`, where a name means all that the server offers.
    """
    for server in servers:
        for prefix in (f"mcp__{_NO_LETTER.sub('_', server)}", server):
            rest = name.removeprefix(prefix)
            tool = rest.lstrip("_/.:")
            if name.startswith(prefix) and (tool != rest or not rest):
                return server, tool
    return None


_DATA = "known_labels.json"
READS, DOES = frozenset({Label.PRIVATE, Label.UNTRUSTED}), frozenset({Label.WRITE, Label.SEND})
_OF_SERVER = re.compile(r"mcp__(?P<server>.+?)(?:__(?P<tool>.+))?", re.DOTALL)
_EVERY = "*"
_SPECIAL = re.compile(r"[*?\[]")
"""Special characters of a pattern."""
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd")
_INTERPRETERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_SHELLS, ("-c", "-lc", "-ec", "-xc", "-euc", "-Command", "-command", "/c", "/C")),
    **dict.fromkeys(("python", "python3", "perl", "ruby", "php", "lua"), ("-c", "-e", "-r")),
    **dict.fromkeys(("node", "bun"), ("-e", "--eval", "-p", "--print")),
    "deno": ("eval",),
}
"""Programs that read a program from their command line, and the words behind which it stands."""
_COMMAND = re.compile(
    r"(?:^|[;&|(`{\n])\s*(?:\w+=[^\s;&|(`{]*\s+)*(?:(?:exec|sudo|env|then|do|if)\s+)*([^\s;&|()<>`$\"'{}]+)"
)
"""A command in a script: what stands before it, variables and words that lead a command, and its program."""


class LabelBook:
    """Looks up what tools read and do, each name once."""

    def __init__(self, catalogue: Catalogue | None) -> None:
        self._catalogue = catalogue
        self._known: dict[str, Labelled] = {}
        written = catalogue.labels if catalogue is not None else ()
        self._patterns = [(re.compile(translate(pattern)), labels) for pattern, labels in written]
        self._beginnings: dict[str, list[int]] = {}
        for at, (pattern, _) in enumerate(written):
            self._beginnings.setdefault(_SPECIAL.split(pattern, maxsplit=1)[0], []).append(at)
        self._longest = max(map(len, self._beginnings), default=0)

    def find(self, name: str) -> Labelled:
        """Return the effects of a tool under its name in nodes."""
        if name not in self._known:
            served = self._locate(name)
            tellers = (*self._list_declared(name, served), *self._list_known(served), *self._list_locked(served))
            self._known[name] = combine(tellers)
        return self._known[name]

    def find_program(self, words: tuple[str, ...]) -> Labelled:
        """Return the effects of a program; for a script on its command line, those of the programs named there."""
        name = posixpath.basename(words[0]) if words else ""
        declared = combine(tuple(self._list_declared(name, _Served(None, name))))
        if declared.teller is not Teller.NOBODY:
            return declared
        scripts = [words[at] for at in list_scripts(words)] if name in _SHELLS else []
        named = [found[1] for text in scripts for found in _COMMAND.finditer(text)] if scripts else [name]
        listed = [pick(read_data()["programs"], posixpath.basename(each)) for each in named]
        known = [each for each in listed if each is not None]
        return Labelled(frozenset[Label]().union(*known), Teller.LIST) if known else Labelled()

    def _locate(self, name: str) -> _Served:
        """Return the server that offers a tool, and what the tool is called there."""
        catalogue = self._catalogue
        tool = catalogue.by_name.get(name) if catalogue is not None else None
        if tool is not None and tool.server is not None:
            return _Served(tool.server, name)
        named = foreign_name(name, catalogue.servers) if catalogue is not None else None
        found = _OF_SERVER.fullmatch(name)
        server, own = named or ((found["server"], found["tool"] or "") if found is not None else (None, name))
        return _Served(server, own)

    def _list_declared(self, name: str, served: _Served) -> Iterator[ToolLabels]:
        """Yield the labels in the catalogue: those of the tool itself, and those of the first pattern that fits."""
        tool = self._catalogue.by_name.get(name) if self._catalogue is not None else None
        if tool is not None and tool.labels is not None:
            yield tool.labels
        whole = name if served.server is None else f"mcp__{served.server}__{served.name}"
        for at in sorted({*self._list_likely(name), *self._list_likely(whole)}):
            pattern, labels = self._patterns[at]
            if pattern.match(name) or pattern.match(whole):
                yield labels

    def _list_likely(self, name: str) -> Iterator[int]:
        """Yield the patterns that begin as a name does: where there are many, most do not."""
        for end in range(min(len(name), self._longest) + 1):
            yield from self._beginnings.get(name[:end], ())

    def _list_known(self, served: _Served) -> Iterator[ToolLabels]:
        found = self._pick_known(served)
        if found is not None:
            yield ToolLabels(found & READS, found & DOES, teller=Teller.LIST)

    def _pick_known(self, served: _Served) -> frozenset[Label] | None:
        if served.server is None:
            return pick(read_data()["tools"], served.name)
        at = self._catalogue.servers.get(served.server) if self._catalogue is not None else None
        tools = _find_tools(served.server, at)
        if tools is not None and served.name.strip(_EVERY) == "":  # all that the server offers
            return frozenset(map(Label, (label for labels in tools.values() for label in labels)))
        return None if tools is None else pick(tools, served.name)

    def _list_locked(self, served: _Served) -> Iterator[ToolLabels]:
        lock = self._catalogue.lock if self._catalogue is not None else None
        server = lock.servers.get(served.server or "") if lock is not None else None
        tool = server.tools.get(served.name) if server is not None else None
        if tool is not None:
            yield _read_hints(tool)


@value
class _Served:
    """A tool by the server that offers it, None where no server does, and by its name there."""

    server: str | None
    name: str


def combine(tellers: tuple[ToolLabels, ...]) -> Labelled:
    """Return the reads and the effects of a tool, each from the first source that states it."""
    reads = next((each for each in tellers if each.reads is not None), None)
    does = next((each for each in tellers if each.does is not None), None)
    labels = (reads.reads if reads is not None else None) or frozenset[Label]()
    labels |= (does.does if does is not None else None) or frozenset[Label]()
    # `read` and `mutating` say only whether something is changed; what is told later may still send
    vague = next((each for each in tellers if each.changes is not None or each.does is not None), None)
    if vague is not None and vague.changes is not None:
        labels = labels | {Label.WRITE} if vague.changes else labels - {Label.WRITE}
    first = next((each for each in tellers if each in (reads, does, vague)), None)
    return Labelled(labels, first.teller, first.at) if first is not None else Labelled()


def _read_hints(tool: LockedTool) -> ToolLabels:
    """Return the labels that a server gives its tool."""
    reads = frozenset({Label.UNTRUSTED} if tool.is_open else ()) if tool.is_open is not None else None
    if tool.effects is Effects.UNKNOWN:
        return ToolLabels(reads, None, teller=Teller.LOCK, at=tool.at)
    changes = tool.effects is Effects.MUTATING
    sends = {Label.SEND} if changes and tool.is_open else set[Label]()
    return ToolLabels(reads, frozenset(sends), changes=changes, teller=Teller.LOCK, at=tool.at)


def list_scripts(words: tuple[str, ...]) -> Iterator[int]:
    """Yield the places in a command line that its program reads as a program."""
    options = _INTERPRETERS.get(posixpath.basename(words[0]), ()) if words else ()
    for at in range(2, len(words)):
        if words[at - 1] in options:
            yield at


def pick(table: Mapping[str, list[str]], name: str) -> frozenset[Label] | None:
    """Return the labels of the first names of a table that fit: patterns, with `|` between them."""
    for names, labels in table.items():
        if _compile(names).match(name):
            return frozenset(map(Label, labels))
    return None


@cache
def _compile(names: str) -> re.Pattern[str]:
    """Return a pattern for names; hosts write those of the same tool with capital letters and without."""
    each = names.split("|")
    return re.compile("|".join(translate(name) for name in dict.fromkeys((*each, *(name.lower() for name in each)))))


def _find_tools(name: str, at: CatalogueServer | None) -> Mapping[str, list[str]] | None:
    """Return the tools of a well-known server: known by how it is started or where it is, else by its name."""
    written = " ".join((at.command or "", *at.args, at.url or "")) if at is not None else ""
    kinds = read_data()["servers"].values()
    launched = (each for each in kinds if any(_find_package(package).search(written) for package in each["launched"]))
    named = (each for each in kinds if name.lower() in each["names"])
    found: Mapping[str, Any] | None = next(launched, None) or next(named, None)
    return None if found is None else found["tools"]


def is_agent(words: tuple[str, ...]) -> bool:
    """Tell whether a command line starts a program in which a model decides."""
    return bool(words) and _compile(read_data()["agents"]).match(posixpath.basename(words[0])) is not None


@cache
def _find_package(package: str) -> re.Pattern[str]:
    """Return a pattern for the name of a package or a host that is not a part of a longer one."""
    return re.compile(rf"(?<![\w-]){re.escape(package)}(?![\w-])")


def list_words(name: str) -> tuple[str, ...]:
    """Return the words by which texts speak of a well-known tool without naming it."""
    for names, words in read_data()["words"].items():
        if _compile(names).match(name):
            return tuple(words)
    return ()


@cache
def read_data() -> Mapping[str, Any]:
    """Return the list of well-known tools, servers and programs that comes with stagec."""
    import json  # most runs ask for none of them

    with open(os.path.join(os.path.dirname(__file__), _DATA), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found
