"""No entry of an agent's tools names a tool.

## Why this matters
Names of tools are exact. Claude Code drops what it does not know in silence, and refuses an agent without any tool at
its first use.

## How to fix
Write names of Claude Code's tools, such as `Read, Grep, Bash`. `stagec validate --fix` corrects their case. Names of
your own go to `agent-files` in the [configuration](../configuration.md#agent-files).
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.tool_names import ToolGroup, list_tools
from stagec.rules.agent_files import correct_case, rule


@rule(since="0.1", origin=("agent-files:toolless-agent",))
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    for file in document.of("claude-agent"):
        entries = list_tools(file, known)
        if entries and all(each.group is not ToolGroup.KNOWN for each in entries):
            names = listing(list(dict.fromkeys(each.name for each in entries)), "nor")
            either = "neither " if len(entries) > 1 else ""
            verb = "names" if len(entries) == 1 or either else "name"
            message = f"{either}{names} {verb} a tool of {known.version()}: the agent is refused at its first use"
            if len(entries) == 1:
                message = f"{names} names no tool of {known.version()}: the agent is refused at its first use"
            yield Finding(file.at / "tools", message, (), correct_case(file, entries, known))
