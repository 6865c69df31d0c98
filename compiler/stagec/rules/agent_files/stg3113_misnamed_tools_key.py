"""The tools of an agent stand under a key that agents do not have.

## Why this matters
An agent of Claude Code limits its tools with `tools`. Under `allowed-tools`, which is the key of skills, or another
spelling, the limit is not there: the agent may use **every** tool.

## How to fix
Write `tools`, as `stagec validate --fix` does.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
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
