"""An agent lists a tool that the settings of its project deny.

## Why this matters
A rule in `permissions.deny` that is only the name of a tool takes it from every agent. The agent starts without the
tool, and nothing says so.

## How to fix
Remove the tool from the agent. Or deny only some of its calls in the settings: `Bash(rm *)` instead of `Bash`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.denials import find_denied_tools
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:denied-agent-tool",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for agent in find_denied_tools(files):
        for entry, denial in () if agent.has_nothing_left else agent.denied:
            message = f"the settings deny {quote(entry.name)} to every agent: this one does not get it"
            yield Finding(entry.at, message, (Related(denial.at, "denied here"),))
