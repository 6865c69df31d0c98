"""The name of an agent has a colon in it, or begins with a hyphen.

## Why this matters
Claude Code 2.1.218 and later does not load such an agent: a colon separates a plugin from its agents.

## How to fix
Give the agent another name, such as one of lower-case letters and hyphens.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:refused-agent-name",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        name = None if file.where.is_plugin else file.members.get("name")  # those of plugins get another one
        if isinstance(name, str) and (":" in name or name.startswith("-")):
            why = "has a ':' in it" if ":" in name else "begins with '-'"
            yield Finding(file.at / "name", f"the name {quote(name)} {why}: Claude Code does not load the agent")
