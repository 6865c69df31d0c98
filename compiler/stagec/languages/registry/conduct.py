"""The tools and the permission mode of an agent, in its boundaries in 1.13 and in a settings file in 1.14."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from enum import StrEnum

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.languages.registry.generation import Generation
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

DEEPEST = 32
"""Blocks inside each other; deeper ones are text."""
_NAME = r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*"
_TAG = re.compile(
    rf"\{{\{{(?:#(?P<opened>each|if)\s+(?P<of>{_NAME})|/(?P<closed>each|if)|(?P<name>{_NAME}))\}}\}}"
    r"|\{\{\s*[#/][^{}\n]*(?:\}\})?"
)
_ELSE = "else"


class TagRole(StrEnum):
    """The role of a tag; one with `NONE` stays as it is written."""

    HOLE = "hole"
    OPEN = "open"
    TURN = "turn"
    CLOSE = "close"
    NONE = "none"


class Defect(StrEnum):
    """Why a tag of a block means nothing."""

    UNREADABLE = "unreadable"
    UNCLOSED = "unclosed"
    UNOPENED = "unopened"
    STRAY_ELSE = "stray-else"
    SECOND_ELSE = "second-else"
    TOO_DEEP = "too-deep"


@value
class PromptTag:
    """One tag of a text: where it begins and ends, what it does, the kind of its block, and the name in it."""

    start: int
    end: int
    role: TagRole
    kind: str = ""
    name: str = ""
    defect: Defect | None = None


@value
class BrokenBlock:
    """A tag of a block in a retry prompt that means nothing: where it stands, as it is written, and why."""

    at: Place
    text: str
    defect: Defect


@value
class PromptReading:
    """A name in a retry prompt that reads a value extracted by a validator, with its place.

    `is_asked` tells that the prompt asks by `{{#if name}}` whether it is there, and can do without.
    """

    name: str
    at: Place
    is_asked: bool = False


def find_tags(text: str) -> tuple[PromptTag, ...]:
    """Return every tag of a text in order; tags that open, turn and close a block are balanced. Linear."""
    pairing = _Pairing()
    for match in _TAG.finditer(text):
        pairing.add(match)
    pairing.close(0)
    return tuple(pairing.found)


class _Pairing:
    """The tags so far, and the indexes of those that opened a block which is still open."""

    def __init__(self) -> None:
        self.found: list[PromptTag] = []
        self._open: list[int] = []
        self._kinds = {"each": 0, "if": 0}
        self._turned: dict[int, int] = {}

    def add(self, match: re.Match[str]) -> None:
        """Add a tag."""
        start, end = match.span()
        if match["opened"] is not None:
            self._begin(PromptTag(start, end, TagRole.OPEN, match["opened"], match["of"]))
        elif match["closed"] is not None:
            self._end(PromptTag(start, end, TagRole.CLOSE, match["closed"]))
        elif match["name"] == _ELSE:
            self._turn(PromptTag(start, end, TagRole.TURN, "if"))
        elif match["name"] is not None:
            self.found.append(PromptTag(start, end, TagRole.HOLE, name=match["name"]))
        else:
            self.found.append(PromptTag(start, end, TagRole.NONE, defect=Defect.UNREADABLE))

    def close(self, depth: int) -> None:
        """Give up all blocks that are open below the outermost so many: nothing closes them."""
        while len(self._open) > depth:
            at = self._open.pop()
            self._kinds[self.found[at].kind] -= 1
            if self.found[at].defect is None:
                self._strike(at, Defect.UNCLOSED)
            if at in self._turned:  # its `else` belongs to no block either
                self._strike(self._turned[at], None)

    def _begin(self, tag: PromptTag) -> None:
        deep = len(self._open) >= DEEPEST
        self._open.append(len(self.found))
        self._kinds[tag.kind] += 1
        self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.TOO_DEEP) if deep else tag)

    def _end(self, tag: PromptTag) -> None:
        if not self._kinds[tag.kind]:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.UNOPENED))
            return
        while self.found[self._open[-1]].kind != tag.kind:
            self.close(len(self._open) - 1)
        opened = self.found[self._open.pop()]
        self._kinds[tag.kind] -= 1
        self.found.append(tag if opened.defect is None else replace(tag, role=TagRole.NONE))

    def _turn(self, tag: PromptTag) -> None:
        at = self._open[-1] if self._open else None
        if at is None or self.found[at].kind != tag.kind:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.STRAY_ELSE))
        elif at in self._turned:
            self.found.append(replace(tag, role=TagRole.NONE, defect=Defect.SECOND_ELSE))
        else:
            self._turned[at] = len(self.found)
            self.found.append(tag if self.found[at].defect is None else replace(tag, role=TagRole.NONE))

    def _strike(self, at: int, defect: Defect | None) -> None:
        self.found[at] = replace(self.found[at], role=TagRole.NONE, defect=defect)


def read_retry_prompt(
    text: str, file: Place, start: int, end: int
) -> tuple[tuple[BrokenBlock, ...], tuple[PromptReading, ...]]:
    """Return the tags that mean nothing in a retry prompt, a stretch of a file, and the names that the others read."""
    broken: list[BrokenBlock] = []
    found: dict[str, PromptReading] = {}
    for tag in find_tags(text[start:end]) if "{{" in text else ():
        span = (start + tag.start, start + tag.end)
        name = tag.name.partition(".")[0]
        if tag.defect is not None:
            broken.append(BrokenBlock(replace(file, range=span), text[slice(*span)], tag.defect))
        elif name and name != "this":
            reading = found.setdefault(name, PromptReading(name, replace(file, range=span)))
            found[name] = replace(reading, is_asked=reading.is_asked or (tag.role, tag.kind) == (TagRole.OPEN, "if"))
    return tuple(broken), tuple(found.values())


_AGENTS = ".agent"
_CONFIGURATION = "climpt/config"
_BESIDE = "_config"
_GENERAL = "claude.settings.climpt.agents.json"
_RULE = "("
"""The character behind the name of a tool in a permission rule, such as `Bash(git:*)`."""


@value
class SettingsFile:
    """The settings file of an agent of 1.14; `content` None where it cannot be read."""

    at: Place
    content: Json
    is_readable: bool

    @property
    def permissions(self) -> Json:
        """The value of `permissions`, whatever it is; None without any."""
        return object_of(self.content).get("permissions")


@value
class AgentConduct:
    """The tools and the permission mode of an agent, and for 1.14 where its settings were looked for.

    `tools` None means that nobody lists them: in 1.13 every tool may be called, in 1.14 none. `tried` are the settings
    files that were looked for, in this order, and `has_folder` tells whether the project has a folder for them.
    """

    tools: tuple[str, ...] | None = None
    permission_mode: str | None = None
    boundaries: Object | None = None
    settings: SettingsFile | None = None
    tried: tuple[str, ...] = ()
    has_folder: bool = False


def read_conduct(sources: Sources, agent: Tree, written: Generation) -> AgentConduct:
    """Return the conduct in an agent definition, or in the settings file that belongs to it."""
    runner = object_of(object_of(agent.value).get("runner"))
    boundaries = runner.get("boundaries")
    own = boundaries if isinstance(boundaries, dict) else None
    if written is Generation.V1_13:
        tools, mode = _list_tools(object_of(own).get("allowedTools")), text_in(object_of(own), "permissionMode")
        return AgentConduct(tools, mode, own)
    tried = tuple(_list_places(agent.file, text_in(object_of(agent.value), "name")))
    file = next(filter(sources.exists, tried), None)
    settings = _read(sources, file) if file is not None else None
    permissions = object_of(settings.permissions) if settings is not None else {}
    return AgentConduct(
        tools=_list_tools(permissions.get("allow")),
        permission_mode=text_in(permissions, "defaultMode"),
        boundaries=own,
        settings=settings,
        tried=tried,
        has_folder=any(sources.has_folder(posixpath.dirname(each)) for each in tried),
    )


def _list_places(agent: str, name: str | None) -> Iterator[str]:
    """Yield the possible paths of the settings of an agent: its own file, then that of all agents.

    They are in the configuration of climpt, or in a folder beside the agent where only a part of a project is there.
    """
    own = (f"claude.settings.climpt.agents.{name}.json",) if name and "/" not in name else ()
    parts = posixpath.dirname(agent).split("/")
    above = parts[: parts.index(_AGENTS)] if _AGENTS in parts else []
    for folder in (posixpath.join(*above, _AGENTS, _CONFIGURATION), posixpath.join(*parts, _BESIDE)):
        yield from (posixpath.join(folder, each) for each in (*own, _GENERAL))


def _read(sources: Sources, file: str) -> SettingsFile:
    tree = sources.tree(file, "file")
    is_readable = tree is not None and tree.readable
    return SettingsFile(Place(file), tree.value if tree is not None and is_readable else None, is_readable)


def _list_tools(given: Json) -> tuple[str, ...] | None:
    """Return the names of tools in a list, each once; a permission rule counts as the tool that it is about."""
    if not isinstance(given, list):
        return None
    return tuple(dict.fromkeys(each.partition(_RULE)[0] for each in list_of(given) if isinstance(each, str)))
