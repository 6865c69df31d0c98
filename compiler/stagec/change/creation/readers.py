"""Shelf: one child per tool whose files stages are made of, each defining one `AgentReader`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from stagec.change.creation.collected import COLLECTION, STAGE, AgentText, Around
from stagec.change.creation.new_project import Loss
from stagec.change.creation.taking import (
    Adopted,
    Chosen,
    Handoff,
    Kept,
    Mentioned,
    choose_claude,
    choose_copilot,
    choose_opencode,
    choose_workflow,
    escape_prompt,
    list_entries,
    list_servers,
    lose,
    take_over,
)
from stagec.core.json import list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.core.words import listing
from stagec.languages.agent_files.workflows import list_imports

__all__ = [
    "CLAUDE_CODE_READER",
    "COPILOT_READER",
    "GH_AW_READER",
    "OPENCODE_READER",
    "STAGE_READER",
    "Adopted",
    "AgentReader",
    "AgentText",
    "Around",
    "read_claude_code",
    "read_copilot",
    "read_opencode",
    "read_stage",
    "read_workflow",
]


@value
class AgentReader:
    """The kinds of files of one tool, and the stage that is made of one of them.

    `agents` become stages wherever they are found. `others`, such as skills, do when nothing else is there, or when
    somebody names them.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    read: Callable[[AgentText, Around], Adopted]


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
    told = tuple(_list_lost_claude_code(given, chosen))
    chosen = chosen.keep_reading() if members.get("permissionMode") == _PLAN else chosen
    denied = [each for key in _DENIED for each in list_entries(members.get(key))]
    has_all = chosen.has_all or key not in members
    kept = Kept(
        chosen,
        key,
        mentions=tuple(_list_mentioned_claude_code(given)),
        servers=list_servers(members.get("mcpServers")),
        losses=told,
        done=("mcpServers", *_DENIED, "permissionMode", "agent"),
        undecided=f"the tools it may call; the file allows all but {' '.join(denied)}" if denied and has_all else "",
    )
    if is_agent:
        return take_over(given, kept)
    prompt, reads = _read_arguments(given)
    return take_over(given, replace(kept, prompt=prompt, reads=reads, done=(*kept.done, "arguments")))


def _list_lost_claude_code(given: AgentText, chosen: Chosen) -> Iterator[Loss]:
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


def _list_mentioned_claude_code(given: AgentText) -> Iterator[Mentioned]:
    for key in _KEYS:
        for entry in list_entries(given.members.get(key)):
            found = _CALLS.fullmatch(entry)
            for name in found["names"].split(",") if found is not None else ():
                yield Mentioned(name.strip(), entry, given.find_line(key))
    agent = text_in(given.members, "agent")
    if agent is not None:
        yield Mentioned(agent, f"agent: {agent}", given.find_line("agent"))


CLAUDE_CODE_READER = AgentReader(
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


def read_copilot(given: AgentText, around: Around) -> Adopted:
    """Return the stage of a file of Copilot or VS Code."""
    servers = given.members.get("mcp-servers")
    return take_over(
        given,
        Kept(
            choose_copilot(given.members.get("tools"), around),
            handoffs=tuple(_list_handoffs(given)),
            mentions=tuple(_list_mentioned_copilot(given)),
            servers=list_servers(servers),
            losses=tuple(_list_lost_copilot(given)),
            done=("handoffs", "agents", "mcp-servers", "agent"),
        ),
    )


def _list_handoffs(given: AgentText) -> Iterator[Handoff]:
    """Yield the hand-offs that a user may choose; an entry without label, agent or prompt is none for VS Code."""
    for each in map(object_of, list_of(given.members.get("handoffs"))):
        agent, label = text_in(each, "agent"), text_in(each, "label")
        if agent and label and isinstance(each.get("prompt"), str):
            yield Handoff(agent, label, given.find_line("agent", agent))


def _list_mentioned_copilot(given: AgentText) -> Iterator[Mentioned]:
    for each in list_of(given.members.get("agents")):
        if isinstance(each, str) and each != "*":
            yield Mentioned(each, f"agents: {each}", given.find_line("agents"))
    agent = text_in(given.members, "agent")
    if agent is not None and agent not in _MODES:
        yield Mentioned(agent, f"agent: {agent}", given.find_line("agent"))


_MODES = frozenset({"ask", "agent", "edit"})
"""The values of `agent` in a prompt that name no agent."""


def _list_lost_copilot(given: AgentText) -> Iterator[Loss]:
    for each in map(object_of, list_of(given.members.get("handoffs"))):
        label, prompt = text_in(each, "label"), text_in(each, "prompt")
        if label is None or prompt is None or not text_in(each, "agent"):
            yield lose(given, "handoffs", "an entry without 'label', 'agent' or 'prompt' is none, also for VS Code")
        elif prompt:
            yield lose(given, "handoffs", f"the prompt of '{label}' is lost: a stage gets only what its prompt reads")
    servers = given.members.get("mcp-servers")
    if servers is not None and not list_servers(servers):
        yield lose(given, "mcp-servers", "is left out: it has no server with a 'command' or a 'url'")


COPILOT_READER = AgentReader(
    ("copilot-agent", "copilot-chat-mode"), ("copilot-prompt", "copilot-instructions"), read_copilot
)


_TAKEN_OVER = frozenset({"model", "hooks", "skills"})
_KEPT = frozenset({"name", "description", "tools", "imports", "metadata"}) | _TAKEN_OVER
_AGENTS = ".github/agents/"


def read_workflow(given: AgentText, around: Around) -> Adopted:
    """Return the stage of an agentic workflow."""
    return take_over(
        given,
        Kept(
            choose_workflow(given.members.get("tools"), around),
            handoffs=tuple(_list_imported(given)),
            losses=tuple(_list_lost_gh_aw(given)),
            done=tuple(key for key in given.members if key not in {"metadata", *_TAKEN_OVER}),
        ),
    )


def _list_imports(given: AgentText) -> list[str]:
    return [each.name for each in list_imports(given.members.get("imports"), Place(given.file))]


def _list_imported(given: AgentText) -> Iterator[Handoff]:
    """Yield the one agent that a workflow may import."""
    for each in _list_imports(given):
        file = each if _AGENTS in each else posixpath.normpath(posixpath.join(posixpath.dirname(given.file), each))
        if _AGENTS in file and "@" not in file:
            name = posixpath.basename(file).removesuffix(".md").removesuffix(".agent")
            yield Handoff(name, f"imports: {each}", given.find_line("imports"))


def _list_lost_gh_aw(given: AgentText) -> Iterator[Loss]:
    known = {each.label.removeprefix("imports: ") for each in _list_imported(given)}
    parts = [each for each in _list_imports(given) if each not in known]
    if parts:
        yield lose(given, "imports", f"the texts of {', '.join(parts)} are not part of the prompt")
    for key in given.members:
        if key == "safe-outputs":
            outputs = ", ".join(object_of(given.members[key]))
            yield lose(given, key, f"is left out: {outputs} could be what the completion tool hands in")
        elif key not in _KEPT and isinstance(key, str):
            yield lose(given, key, "belongs to the workflow: a stage has nothing for it")


GH_AW_READER = AgentReader(("gh-aw-workflow",), (), read_workflow)


def read_opencode(given: AgentText, around: Around) -> Adopted:
    """Return the stage of a file of OpenCode."""
    members = given.members
    key = "tools" if "tools" in members or "permission" not in members else "permission"
    said = members.get(key)
    is_map = isinstance(said, dict)
    chosen = choose_opencode(object_of(said), around) if is_map else choose_claude(said, around, is_exact=False)
    return take_over(given, Kept(chosen, key, done=("tools", "permission")))


OPENCODE_READER = AgentReader(("opencode-agent", "opencode-mode"), (), read_opencode)


def read_stage(given: AgentText, _around: Around) -> Adopted:
    """Return a stage definition as it is."""
    tools = tuple(each for each in list_of(given.members.get("allowedTools")) if isinstance(each, str) and each)
    return Adopted(name=text_in(given.members, "id") or given.called, tools=tools, text=given.text)


STAGE_READER = AgentReader((STAGE,), (), read_stage)
