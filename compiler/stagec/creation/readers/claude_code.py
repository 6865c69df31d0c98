"""Files of Claude Code and those that lie anywhere: agents, and the skills and commands that somebody names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.json import list_of, text_in
from stagec.core.value import replace
from stagec.core.words import listing
from stagec.creation.adopted import Mentioned, escape_prompt
from stagec.creation.collected import COLLECTION
from stagec.creation.new_project import Loss
from stagec.creation.readers import Adopted, AgentReader, AgentText, Around
from stagec.creation.taking import Kept, list_servers, lose, take_over
from stagec.creation.tool_names import Chosen, choose_claude, list_entries

_AGENT = "claude-agent"
_KEYS = ("tools", "allowed-tools", "allowedTools")
_PLAN = "plan"
_DENIED = ("disallowedTools", "disallowed-tools")
_CALLS = re.compile(r"(?:Agent|Task)\((?P<names>[^()]*)\)")


def read_claude_code(given: AgentText, around: Around) -> Adopted:
    """Return the stage of a file of Claude Code, or of one that lies anywhere."""
    members = given.members
    is_agent = given.kind in {_AGENT, COLLECTION}
    key = next((each for each in _KEYS if each in members), "tools")
    chosen = choose_claude(members.get(key), around, is_exact=given.kind == _AGENT)
    told = tuple(_list_lost(given, chosen))
    chosen = chosen.keep_reading() if members.get("permissionMode") == _PLAN else chosen
    denied = [each for key in _DENIED for each in list_entries(members.get(key))]
    has_all = chosen.has_all or key not in members
    kept = Kept(
        chosen,
        key,
        mentions=tuple(_list_mentioned(given)),
        servers=list_servers(members.get("mcpServers")),
        losses=told,
        done=("mcpServers", *_DENIED, "permissionMode", "agent"),
        undecided=f"the tools it may call; the file allows all but {' '.join(denied)}" if denied and has_all else "",
    )
    if is_agent:
        return take_over(given, kept)
    prompt, reads = _read_arguments(given)
    return take_over(given, replace(kept, prompt=prompt, reads=reads, done=(*kept.done, "arguments")))


def _list_lost(given: AgentText, chosen: Chosen) -> Iterator[Loss]:
    members = given.members
    for key in _DENIED:
        if key in members:
            yield lose(given, key, "is left out: a stage may call only the tools that it lists")
    mode = members.get("permissionMode")
    if mode == _PLAN:
        lost = [each for each in chosen.tools if each not in chosen.keep_reading().tools]
        why = f"{listing(lost)} left out" if lost else "that is what its tools do"
        yield lose(given, "permissionMode", f"'plan' lets it only read: {why}")
    elif mode is not None:
        yield lose(given, "permissionMode", "is left out: a stage calls its tools without asking a person")
    servers = members.get("mcpServers")
    if servers is not None and not list_servers(servers):
        yield lose(given, "mcpServers", "is left out: 'tools.yaml' or '.mcp.json' says what servers there are")


def _list_mentioned(given: AgentText) -> Iterator[Mentioned]:
    for key in _KEYS:
        for entry in list_entries(given.members.get(key)):
            found = _CALLS.fullmatch(entry)
            for name in found["names"].split(",") if found is not None else ():
                yield Mentioned(name.strip(), entry, given.find_line(key))
    agent = text_in(given.members, "agent")
    if agent is not None:
        yield Mentioned(agent, f"agent: {agent}", given.find_line("agent"))


READER = AgentReader(
    (_AGENT, COLLECTION),
    (
        "claude-command",
        "claude-skill",
        "shared-skill",
        "opencode-skill",
        "opencode-command",
        "claude-rule",
        "cursor-rule",
    ),
    read_claude_code,
)


_NAME = re.compile(r"[A-Za-z_]\w*")


def _read_arguments(given: AgentText) -> tuple[str, tuple[str, ...]]:
    """Return the prompt of a command or a skill, and the names of the context that it reads."""
    named = given.members.get("arguments")
    listed = list_entries(named) if isinstance(named, str) else map(str, list_of(named))
    names = "|".join(each for each in listed if _NAME.fullmatch(each)) or "(?!)"
    pattern = rf"\$ARGUMENTS\[(?P<index>\d{{1,3}})\]|\$(?P<at>\d)(?!\d)|\$(?P<name>{names})\b|\$ARGUMENTS\b"
    reads: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        index = found["index"] or found["at"]
        name = f"arg{index}" if index else found["name"] or "arguments"
        reads[name] = None
        return f"{{{{ctx.{name}}}}}"

    return re.sub(pattern, put, escape_prompt(given.body)), tuple(reads)
