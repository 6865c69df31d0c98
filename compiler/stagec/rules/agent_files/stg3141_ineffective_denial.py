"""An entry of an agent's `disallowedTools` denies nothing, or more than it seems to.

## Why this matters
Names of tools are exact: `bash` denies nothing. What stands in parentheses does not count: `Bash(git push *)` takes all
of `Bash` from the agent.

## How to fix
Write names of tools as Claude Code does. Deny single calls with `permissions.deny` in `.claude/settings.json`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.tool_names import ToolGroup, find_case, list_tools
from stagec.rules.agent_files import rule

_BY_NAME = frozenset({"Agent", "Task", "Skill"})
"""Tools of which nobody has measured what parentheses do here."""


@rule(since="0.1", origin=("agent-files:ineffective-denial",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("claude-agent"):
        for each in list_tools(file, files.known, "disallowedTools"):
            if each.group is ToolGroup.UNKNOWN:
                near = find_case(each.name, files.known) or files.known.names("tools").slip(each.name)
                doubt = f"; did you mean {quote(near)}?" if near else ""
                told = f"{quote(each.name)} denies nothing: it is no tool of {files.known.version()}{doubt}"
                yield Finding(each.at, told)
            elif each.text != each.name and each.name not in _BY_NAME and each.group is ToolGroup.KNOWN:
                yield Finding(each.at, f"{quote(each.text)} takes all of {quote(each.name)} from the agent")
