"""An agent has a key that Claude Code does not read.

## Why this matters
Claude Code ignores the key. It may be meant for people or for another tool, so this rule is an opinion.

## How to fix
Delete the key, or add it to the `keys` of `agent-files` in the [configuration](../configuration.md#agent-files).
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unread-agent-key",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    keys = document.known.keys("agent")
    for file in document.of("claude-agent"):
        for key in file.members:
            if key not in keys:
                yield Finding((file.at / key).key, f"{document.known.version()} does not read {quote(key)}")
