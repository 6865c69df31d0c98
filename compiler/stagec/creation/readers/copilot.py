"""Agents, chat modes, prompts and instructions of GitHub Copilot and VS Code."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import list_of, object_of, text_in
from stagec.creation.adopted import Handoff, Mentioned
from stagec.creation.new_project import Loss
from stagec.creation.readers import Adopted, AgentReader, AgentText, Around
from stagec.creation.taking import Kept, list_servers, lose, take_over
from stagec.creation.tool_names import choose_copilot


def read_copilot(given: AgentText, around: Around) -> Adopted:
    """Return the stage of a file of Copilot or VS Code."""
    servers = given.members.get("mcp-servers")
    return take_over(
        given,
        Kept(
            choose_copilot(given.members.get("tools"), around),
            handoffs=tuple(_list_handoffs(given)),
            mentions=tuple(_list_mentioned(given)),
            servers=list_servers(servers),
            losses=tuple(_list_lost(given)),
            done=("handoffs", "agents", "mcp-servers", "agent"),
        ),
    )


def _list_handoffs(given: AgentText) -> Iterator[Handoff]:
    """Yield where a user may go on; an entry without label, agent or prompt is none for VS Code."""
    for each in map(object_of, list_of(given.members.get("handoffs"))):
        agent, label = text_in(each, "agent"), text_in(each, "label")
        if agent and label and isinstance(each.get("prompt"), str):
            yield Handoff(agent, label, given.find_line("agent", agent))


def _list_mentioned(given: AgentText) -> Iterator[Mentioned]:
    for each in list_of(given.members.get("agents")):
        if isinstance(each, str) and each != "*":
            yield Mentioned(each, f"agents: {each}", given.find_line("agents"))
    agent = text_in(given.members, "agent")
    if agent is not None and agent not in _MODES:
        yield Mentioned(agent, f"agent: {agent}", given.find_line("agent"))


_MODES = frozenset({"ask", "agent", "edit"})
"""What `agent` of a prompt says when it names none."""


def _list_lost(given: AgentText) -> Iterator[Loss]:
    for each in map(object_of, list_of(given.members.get("handoffs"))):
        label, prompt = text_in(each, "label"), text_in(each, "prompt")
        if label is None or prompt is None or not text_in(each, "agent"):
            yield lose(given, "handoffs", "an entry without 'label', 'agent' or 'prompt' is none, also for VS Code")
        elif prompt:
            yield lose(given, "handoffs", f"the prompt of '{label}' is lost: a stage gets only what its prompt reads")
    servers = given.members.get("mcp-servers")
    if servers is not None and not list_servers(servers):
        yield lose(given, "mcp-servers", "is left out: it has no server with a 'command' or a 'url'")


READER = AgentReader(("copilot-agent", "copilot-chat-mode"), ("copilot-prompt", "copilot-instructions"), read_copilot)
