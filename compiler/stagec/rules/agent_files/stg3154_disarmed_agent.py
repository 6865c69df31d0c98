"""The settings of a project deny every tool that an agent lists.

## Why this matters
A rule in `permissions.deny` that is only the name of a tool takes it from every agent. Claude Code refuses to start an
agent that has no tool left.

## How to fix
Give the agent a tool that is not denied. Or deny only some calls in the settings: `Bash(rm *)` instead of `Bash`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing
from stagec.frontends.agent_files.denials import find_denied_tools
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:denied-agent-tool",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for agent in find_denied_tools(files):
        if agent.has_nothing_left:
            tools = listing(tuple(dict.fromkeys(entry.name for entry, _ in agent.denied)))
            denials = dict.fromkeys(denial.at for _, denial in agent.denied)
            related = tuple(Related(at, "denied here") for at in denials)
            message = f"the settings deny every tool of this agent: {tools}; Claude Code does not start it"
            yield Finding(agent.file.at / "tools", message, related)
