"""An agent may do everything without asking.

## Why this matters
With `permissionMode: bypassPermissions` nobody is asked before a command runs or a file changes. That may be what its
author wants in a sandbox, so this rule is an opinion.

## How to fix
Choose `acceptEdits` or `plan`, and allow single tools in `.claude/settings.json`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:bypassing-agent",), severity=Severity.WARNING, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        if file.members.get("permissionMode") == "bypassPermissions" and not file.where.is_plugin:
            yield Finding(file.at / "permissionMode", "this agent may do everything without asking")
