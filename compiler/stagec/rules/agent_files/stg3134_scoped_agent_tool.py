"""A tool of an agent has a limit in parentheses, which does not count there.

## Why this matters
In the `tools` of an agent `Bash(git:*)` gives `Bash` for every command. Only permissions and `allowed-tools` of
skills read what stands in parentheses.

## How to fix
Write the name alone, and the limit as a permission in `.claude/settings.json`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:scoped-agent-tool",), severity=Severity.WARNING, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        for each in list_tools(file, document.known):
            if each.text != each.name and each.name not in {"Agent", "Task"}:
                yield Finding(each.at, f"{quote(each.text)} gives this agent all of {quote(each.name)}")
