"""The tools that an agent of Claude Code names, and what each name means to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from stagec.core.json import Json, list_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.agent_files.document import AgentFile
from stagec.languages.agent_files.known import Known

_ENTRY = re.compile(r"(?:[^\s,()]|\([^()]*\)?)+")
_WRAPPED = re.compile(r"\[(.*)\]", re.DOTALL)
_OF_SERVER = re.compile(r"mcp__[^*]+?(?<!__)(?:__\*)?")
"""A name of a server, of one of its tools, or of all of them; in no other one of these can an agent write `*`."""
_DENIED = "disallowedTools"
_OF_EVERY_SERVER = frozenset({"mcp__*", "mcp__*__*"})
"""What takes all tools of servers from an agent; it gives none."""
_EVERY = "*"


class ToolGroup(Enum):
    """What a name of a tool means."""

    KNOWN = "known"
    GONE = "gone"
    UNKNOWN = "unknown"


@value
class ToolEntry:
    """One entry of a list of tools: as it is written, its name without what stands in parentheses, and its value.

    `at` is the value that it is written in: an element of a list, or the text with all of them.
    """

    text: str
    name: str
    at: Place
    group: ToolGroup


def list_tools(file: AgentFile, known: Known, key: str = "tools") -> tuple[ToolEntry, ...]:
    """Return the entries of a list of tools, none of one that is absent, or neither a text nor a list."""
    return tuple(
        ToolEntry(text, name, at, _find_group(name, known, is_denied=key == _DENIED))
        for given, at in _list_texts(file.members.get(key), file.at / key)
        for text in _ENTRY.findall(given)
        if (name := text.partition("(")[0])
    )


def _list_texts(given: Json, at: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(given, str):
        wrapped = _WRAPPED.fullmatch(given.strip())  # a list that a second try has put in quotes
        yield (given if wrapped is None else re.sub(r"[\"']", "", wrapped[1])), at
    elif isinstance(given, list):
        yield from ((each, at / index) for index, each in enumerate(given) if isinstance(each, str))


def has_texts(given: Json) -> bool:
    """Tell whether a value is a text, or a list with one: nothing else names a tool."""
    return isinstance(given, str) or any(isinstance(each, str) for each in list_of(given))


def _find_group(name: str, known: Known, *, is_denied: bool) -> ToolGroup:
    """Return what a name of a tool means: names are exact."""
    is_named = name in known.names("tools") or name in known.aliases("tool-aliases")
    is_of_servers = (is_denied and name in _OF_EVERY_SERVER) or _OF_SERVER.fullmatch(name) is not None
    if name == _EVERY or is_named or is_of_servers:
        return ToolGroup.KNOWN
    return ToolGroup.GONE if name in known.aliases("gone-tools") else ToolGroup.UNKNOWN


def find_case(name: str, known: Known) -> str | None:
    """Return the tool that a name differs from by case alone, if it is one."""
    near = [each for each in known.names("tools") if each != name and each.lower() == name.lower()]
    return near[0] if len(near) == 1 else None
