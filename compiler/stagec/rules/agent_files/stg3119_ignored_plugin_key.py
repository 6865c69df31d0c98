"""An agent of a plugin has a key that counts only for agents of a project.

## Why this matters
Claude Code does not let plugins change what may be done: it ignores `hooks`, `mcpServers` and `permissionMode` in
their agents. A guard that is written there does not run.

## How to fix
Give the plugin a `hooks/hooks.json` or a `.mcp.json`, or move the agent to `.claude/agents` of the project.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_IGNORED = ("hooks", "mcpServers", "permissionMode")


@rule(since="0.1", origin=("agent-files:ignored-plugin-key",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        ignored = (key for key in _IGNORED if key in file.members) if file.where.is_plugin else ()
        for key in ignored:
            yield Finding((file.at / key).key, f"Claude Code ignores {quote(key)} in an agent of a plugin")
