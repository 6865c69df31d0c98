"""A skill or a command has the key `tools`, which only agents have.

## Why this matters
Claude Code ignores the key: the tools are asked for at each use, and no other tool is taken away.

## How to fix
Write `allowed-tools` for tools that need no permission, and `disallowed-tools` for those that may not be used.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:misnamed-tools-key",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-skill", "claude-command"):
        if "tools" in file.members:
            message = f"a {file.title} has no key 'tools': these tools are neither allowed nor the only ones"
            yield Finding((file.at / "tools").key, message)
