"""A page in the folder of a plugin's agents is an agent itself.

## Why this matters
In a plugin every Markdown file below `agents` is an agent, also one without a frontmatter: it has every tool, and the
model may choose it.

## How to fix
Move the page out of the folder.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:accidental-agent",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    pages = files.known.names("plugin-pages")
    for file in files.of("claude-agent"):
        name = file.where.name.rpartition("/")[2]
        if file.where.is_plugin and name.upper() in pages and "name" not in file.members:
            yield Finding(file.at, f"this page is the agent {quote(name)} of the plugin, with every tool")
