"""Tool names in files of Claude Code: their meaning, undeclared servers, and denied tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from stagec.core.json import Json, list_of
from stagec.core.place import Mention, Place
from stagec.core.value import value
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import Known
from stagec.languages.agent_files.permission_rules import (
    MCP_PREFIX,
    PermissionRule,
    split_mcp_name,
    translate_wildcards,
)

_ENTRY = re.compile(r"(?:[^\s,()]|\([^()]*\)?)+")
_WRAPPED = re.compile(r"\[(.*)\]", re.DOTALL)
_OF_SERVER = re.compile(r"mcp__[^*]+?(?<!__)(?:__\*)?")
"""A name of a server, of one of its tools, or of all of them; in no other one of these can an agent write `*`."""
_DENIED = "disallowedTools"
_OF_EVERY_SERVER = frozenset({"mcp__*", "mcp__*__*"})
"""Patterns that take all tools of servers from an agent; they give none."""
_EVERY = "*"


class ToolGroup(Enum):
    """The meaning of a tool name."""

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
    """Return the meaning of a tool name: names are exact."""
    is_named = name in known.names("tools") or name in known.aliases("tool-aliases")
    is_of_servers = (is_denied and name in _OF_EVERY_SERVER) or _OF_SERVER.fullmatch(name) is not None
    if name == _EVERY or is_named or is_of_servers:
        return ToolGroup.KNOWN
    return ToolGroup.GONE if name in known.aliases("gone-tools") else ToolGroup.UNKNOWN


def find_case(name: str, known: Known) -> str | None:
    """Return the tool that a name differs from by case alone, if it is one."""
    near = [each for each in known.names("tools") if each != name and each.lower() == name.lower()]
    return near[0] if len(near) == 1 else None


_LISTS = (
    ("claude-agent", ("tools", "disallowedTools")),
    ("claude-skill", ("allowed-tools", "disallowed-tools")),
    ("claude-command", ("allowed-tools", "disallowed-tools")),
)
_FOREIGN = ("plugin_", "claude_ai_")
"""The beginnings of the names of servers that plugins and accounts bring along."""


def list_undeclared_servers(files: AgentFiles) -> Iterator[Mention]:
    """Yield the servers that are named and that no file of the project declares, in tools and in permission rules."""
    for mention in list_named_tools(files):
        parts = split_mcp_name(mention.name)
        server = "*" if parts is None else parts[0]
        if "*" not in server and server not in files.claude.declared and not server.startswith(_FOREIGN):
            yield Mention(server, mention.at)


def list_named_tools(files: AgentFiles) -> Iterator[Mention]:
    """Yield every tool that the files of Claude Code name, in lists and in permission rules."""
    for kind, keys in _LISTS:
        lists = (list_tools(file, files.known, key) for file in files.of(kind) for key in keys)
        yield from (Mention(entry.name, entry.at) for entries in lists for entry in entries)
    for _, settings in files.claude.settings:
        yield from (Mention(each.tool, each.at) for each in settings.rules if each.refusal is None)


def fold_server(name: str) -> str:
    """Return a name of a server without what is easily confused: its case, `-` and `_`."""
    return name.lower().replace("-", "").replace("_", "")


@value
class DisarmedAgent:
    """An agent, the entries of its tools that are denied with the rules that do so, and whether any other is left."""

    file: AgentFile
    denied: tuple[tuple[ToolEntry, PermissionRule], ...]
    has_nothing_left: bool


def find_denied_tools(files: AgentFiles) -> Iterator[DisarmedAgent]:
    """Yield every agent with a tool that the settings beside it deny."""
    for agent in files.of("claude-agent"):
        homes = [settings for home, settings in files.claude.settings if home == agent.where.home]
        rules = [rule for each in homes for rule in each.list_denied() if not agent.where.is_plugin]
        entries = list_tools(agent, files.known) if rules else ()
        standing = [entry for entry in entries if entry.group is ToolGroup.KNOWN]
        denials = Denials(rules, files.known)
        found = [(entry, denials.find(entry.name)) for entry in standing]
        denied = tuple((entry, denial) for entry, denial in found if denial is not None)
        if denied:
            yield DisarmedAgent(agent, denied, len(denied) == len(found))


class Denials:
    """The rules that take tools from agents, by what they name: a tool, a server, or a pattern with `*`."""

    def __init__(self, rules: Iterable[PermissionRule], known: Known) -> None:
        self._aliases = known.aliases("tool-aliases")
        self._named: dict[str, PermissionRule] = {}
        wide: dict[str, PermissionRule] = {}
        for each in rules:
            chosen = wide if "*" in each.tool else self._named
            chosen.setdefault(self._aliases.get(each.tool) or each.tool, each)
        self._pattern = re.compile("|".join(f"({translate_wildcards(each)})" for each in wide), re.DOTALL)
        self._ranked = tuple(wide.values())

    def find(self, tool: str) -> PermissionRule | None:
        """Return the rule that denies a tool."""
        name = self._aliases.get(tool) or tool
        server = split_mcp_name(name)
        found = self._named.get(name) or (self._named.get(f"{MCP_PREFIX}{server[0]}") if server is not None else None)
        if found is None and self._ranked:
            match = self._pattern.fullmatch(name)
            return None if match is None or match.lastindex is None else self._ranked[match.lastindex - 1]
        return found
