"""From the tools that an agent file names, in the way of the tool that owns it, to those that a stage allows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.catalogue import Effects, well_known_effects
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.creation.around import Around

ALL = "*"
_ENTRY = re.compile(r"[^,\s()]+(?:\([^()]*\))?")
_LIMITED = re.compile(r"(?P<name>[^()]*)\((?P<limit>.*)\)", re.DOTALL)
_OF_SERVER = re.compile(r"mcp__(?P<server>.+?)(?:__(?P<tool>.+))?")
_CALLS = frozenset({"Agent", "Task", "custom-agent", "agent", "runSubagent"})
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_NO_NAME = re.compile(r"[^\w.-]")
COPILOT = {
    "read": "Read",
    "edit": "Edit",
    "execute": "Bash",
    "search": "Grep",
    "web": "WebFetch",
    "todo": "TodoWrite",
}
"""What the names mean that Copilot gives to groups of tools."""


@value
class Chosen:
    """The tools that a stage allows, those of them that are of servers with the server, and what was not taken over."""

    tools: tuple[str, ...] = ()
    of_servers: tuple[tuple[str, str], ...] = ()
    losses: tuple[str, ...] = ()
    has_all: bool = False

    def keep_reading(self) -> Chosen:
        """Return only those tools that surely do nothing but read."""
        tools = tuple(each for each in self.tools if well_known_effects(each) is Effects.READ)
        return Chosen(tools, (), self.losses)


class ToolChoice:
    """Takes names of tools one by one, and remembers what becomes of them."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._tools: dict[str, None] = {}
        self._of_servers: dict[str, str] = {}
        self._lost: dict[str, list[str]] = {}
        self._has_all = False

    def take(self, name: str) -> None:
        """Allow a tool, unless the settings of the project deny it."""
        if name in self._around.denied:
            self.lose(name, "is denied by the settings of the project")
        elif name:
            self._tools[name] = None

    def take_all(self) -> None:
        """Remember that the file allows whatever there is."""
        self._has_all = True

    def find_server(self, name: str) -> tuple[str, str] | None:
        """Return the server and the tool that a name such as `mcp__docs__find` means; without a tool it means all."""
        for server in self._around.offered:
            before, found, tool = f"{name}__".partition(f"mcp__{_OUTSIDE.sub('_', server)}__")
            if found and not before:
                return server, tool.removesuffix("__") or ALL
        other = _OF_SERVER.fullmatch(name)
        return (other["server"], other["tool"] or ALL) if other is not None else None

    def take_of_server(self, server: str, tool: str) -> None:
        """Allow a tool of a server, or all that the lock knows of it."""
        offered = self._around.offered.get(server)
        if f"mcp__{server}__{tool}" in self._around.denied or f"mcp__{server}" in self._around.denied:
            self.lose(f"{server}/{tool}", "is denied by the settings of the project")
        elif tool != ALL and offered is not None and tool not in offered:
            self.lose(f"{server}/{tool}", "is not in 'tools.lock.json'")
        elif tool != ALL or offered:
            for each in (offered or ()) if tool == ALL else (_NO_NAME.sub("_", tool),):
                self.take(each)
                self._of_servers[each] = server
        else:
            self.lose(f"{server}/*", "needs 'stagec tools lock': then write the tools of the server that it may call")

    def take_claude(self, name: str, *, is_exact: bool) -> bool:
        """Allow a tool by the name that it has in Claude Code, and tell whether something has that name."""
        known = self._around.known
        meant = known.aliases("tool-aliases").get(name) or name
        if meant in known.names("never-for-subagents"):
            self.lose(name, "is left out: no agent is given it")
        elif meant in known.names("tools") or (not is_exact and name not in known.aliases("gone-tools")):
            self.take(meant)
        else:
            instead = known.aliases("gone-tools").get(name) or known.names("tools").nearest(name)
            self.lose(name, f"names no tool{f'; today it is {quote(instead)}' if instead else ''}")
        return meant in self._tools

    def lose(self, name: str, why: str) -> None:
        """Remember a name that is not taken over, and why."""
        self._lost.setdefault(why, []).append(name)

    def finish(self) -> Chosen:
        """Return what was chosen; names with one reason are told together."""
        losses = tuple(f"{listing(tuple(dict.fromkeys(names)))} {why}" for why, names in self._lost.items())
        servers = tuple((tool, server) for tool, server in self._of_servers.items() if tool in self._tools)
        return Chosen(tuple(self._tools), servers, losses, self._has_all)


def list_entries(given: Json) -> Iterator[str]:
    """Yield the tools of a list, or of a text with commas or blanks, in which a tool may have arguments."""
    if isinstance(given, str):
        yield from _ENTRY.findall(given)
    for each in given if isinstance(given, list) else ():
        if isinstance(each, str) and each.strip():
            yield each.strip()


def choose_claude(given: Json, around: Around, *, is_exact: bool = True) -> Chosen:
    """Return the tools of a file of Claude Code; names that it does not know are dropped where only it reads them."""
    choice = ToolChoice(around)
    for entry in list_entries(given):
        limited = _LIMITED.fullmatch(entry)
        name = limited["name"].strip() if limited is not None else entry
        of_server = choice.find_server(name)
        if name in _CALLS or name == "Skill":
            choice.lose(entry, "is left out: a stage calls no agents and no skills; routes do that")
        elif name == ALL:
            choice.take_all()
        elif of_server is not None:
            choice.take_of_server(*of_server)
        else:
            is_taken = choice.take_claude(name, is_exact=is_exact)
            if is_taken and limited is not None:
                choice.lose(entry, "became a plain name: a stage allows a tool whatever its arguments")
    return choice.finish()


def choose_copilot(given: Json, around: Around) -> Chosen:
    """Return the tools of an agent, a chat mode or a prompt of Copilot or VS Code."""
    choice = ToolChoice(around)
    aliases = {key.lower(): meant for key, meant in around.known.aliases("tool-aliases", "Copilot").items()}
    for entry in list_entries(given):
        group, _, tool = entry.partition("/")
        general = aliases.get(group.lower()) or group.lower()
        if general in _CALLS:
            choice.lose(entry, "is left out: a stage calls no agents; routes do that")
        elif entry == ALL:
            choice.take_all()
        elif general in COPILOT:
            choice.take(COPILOT[general])
        elif tool:
            choice.take_of_server(group, tool)
        else:
            choice.take(_NO_NAME.sub("_", entry))
            choice.lose(entry, "is kept as it is: look whether your host has a tool of that name")
    return choice.finish()


def choose_opencode(members: Json, around: Around) -> Chosen:
    """Return the tools of an agent of OpenCode: a map of what is switched on, or of permissions."""
    choice = ToolChoice(around)
    for name, said in members.items() if isinstance(members, dict) else ():
        if said is False or said == "deny":
            choice.lose(name, "is denied to the agent: a stage may call only what it lists")
        elif name == ALL:
            choice.take_all()
        elif "*" in name or not (said is True or isinstance(said, str)):
            choice.lose(name, "is a pattern or has rules of its own, which a stage cannot say")
        else:
            choice.take(name)
    return choice.finish()


def choose_workflow(given: Json, around: Around) -> Chosen:
    """Return the tools of an agentic workflow of GitHub."""
    choice = ToolChoice(around)
    for name, said in given.items() if isinstance(given, dict) else ():
        if said is False:
            continue
        if name in _WORKFLOW:
            choice.take(_WORKFLOW[name])
            if said not in {None, True} if not isinstance(said, dict | list) else bool(said):
                choice.lose(name, "has limits, which a stage cannot say")
        else:
            choice.lose(name, "is left out: write the names of the tools that it stands for")
    return choice.finish()


_WORKFLOW = {"edit": "Edit", "bash": "Bash", "web-fetch": "WebFetch", "web-search": "WebSearch"}
