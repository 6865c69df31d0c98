"""A Copilot agent names subagents, and its tools lack the one that calls them.

## Why this matters
VS Code lets an agent call others with the tool `agent` only. Without it the list `agents` does nothing.

## How to fix
Add `agent` to `tools`, or remove `agents`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.known import COPILOT, Known
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-agent"):
        if file.members.get("agents") and file.members.get("tools") is not None and not _calls(file, files.known):
            yield Finding((file.at / "agents").key, "'agents' does nothing, because 'agent' is not among the tools")


def _calls(file: AgentFile, known: Known) -> bool:
    """Tell whether the tools of an agent have the one that calls other agents."""
    aliases = {each.lower() for each, meant in known.aliases("tool-aliases", COPILOT).items() if meant == "agent"}
    callers = {"*", "agent", "runsubagent", *aliases}
    names = (each.name.lower() for each in list_tools(file, known))
    return any(name in callers or name.startswith("agent/") or name.endswith("/runsubagent") for name in names)
