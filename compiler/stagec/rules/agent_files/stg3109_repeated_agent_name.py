"""Two agents of one project have the same name.

## Why this matters
Claude Code knows agents by `name` alone, whatever their files are called. One of the two is loaded, by the order in
which files are read, and nothing tells which.

## How to fix
Give one of them another name, or delete it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:repeated-agent-name",))
def check(document: AgentFiles) -> Iterator[Finding]:
    first: dict[tuple[str, str], AgentFile] = {}
    for file in document.of("claude-agent"):
        name = file.members.get("name")
        if not isinstance(name, str) or not isinstance(file.members.get("description"), str) or file.where.is_plugin:
            continue
        other = first.setdefault((file.where.home, name), file)
        if other.real_path != file.real_path:
            related = (Related(other.at / "name", "the same name"),)
            message = f"another agent is called {quote(name)}: Claude Code loads one of the two"
            yield Finding(file.at / "name", message, related)
