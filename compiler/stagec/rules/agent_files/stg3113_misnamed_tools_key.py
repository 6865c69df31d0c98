"""The tools of an agent or a skill stand under a key that its kind does not have.

## Why this matters
An agent of Claude Code limits its tools with `tools`. Under `allowed-tools`, which is the key of skills, or another
spelling, the limit is not there: the agent may use **every** tool. A skill or a command with `tools` allows nothing
with it.

## How to fix
Write `tools` in agents, as `stagec validate --fix` does. Write `allowed-tools` in skills and commands for tools that
need no permission.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_MISNAMED = ("allowed-tools", "allowedTools", "Tools", "tool")


@rule(since="0.1", origin=("agent-files:misnamed-tools-key",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        key = next((key for key in _MISNAMED if key in file.members), None)
        if key is not None and "tools" not in file.members:
            message = f"agents have no key {quote(key)}: without 'tools' this one may use every tool"
            fix = Fix("rename it to 'tools'", (Edit(Change.RENAME, file.at / key, "tools"),))
            yield Finding((file.at / key).key, message, (), fix)
    for file in document.of("claude-skill", "claude-command"):
        if "tools" in file.members:
            message = f"a {file.title} has no key 'tools': these tools are neither allowed nor the only ones"
            yield Finding((file.at / "tools").key, message, severity=Severity.WARNING)
