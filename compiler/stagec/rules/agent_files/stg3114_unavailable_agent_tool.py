"""An agent lists a tool that no agent gets.

## Why this matters
Some tools belong to the session alone, such as the one that asks the user. Claude Code takes them from every agent
that it starts, without a word: instructions that rely on them cannot be followed.

## How to fix
Take the tool out of the list, and let the agent return its question as its result. `ExitPlanMode` needs
`permissionMode: plan`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unavailable-agent-tool",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    for file in document.of("claude-agent"):
        is_planning = file.members.get("permissionMode") == "plan"
        never = {*known.names("never-for-subagents"), *(() if is_planning else known.names("only-when-planning"))}
        for each in list_tools(file, known):
            if each.name in never:
                yield Finding(each.at, f"{quote(each.name)} is taken from every agent by {known.version()}")
