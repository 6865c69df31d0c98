"""An agent has no name, so Claude Code takes it for documentation.

## Why this matters
Claude Code reads Markdown files below `.claude/agents` as agents only if they have a `name` that is a text. It says
nothing of others, so that an agent with a description and tools is simply not there.

## How to fix
Add a `name`. `stagec validate --unsafe-fixes` takes that of the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unnamed-agent",))
def check(document: AgentFiles) -> Iterator[Finding]:
    keys = document.known.keys("agent")
    pages = document.known.names("plugin-pages")
    for file in document.of("claude-agent"):
        is_page = file.where.name.rpartition("/")[2].upper() in pages
        if file.reading.is_bare and not is_page and not file.where.is_plugin and not file.tree.faults:
            told = "the file has no frontmatter, so it is no agent: Claude Code takes it for documentation"
            yield Finding(file.at, told, severity=Severity.WARNING)
    for file in document.of("claude-agent"):
        name, others = file.members.get("name"), [key for key in file.members if key in keys and key != "name"]
        is_named = isinstance(name, str) and bool(name.strip())
        meant = file.where.name.rpartition("/")[2]
        is_page = meant.lower() == "readme"
        if is_named or is_page or not others or file.where.is_plugin or not file.reading.is_whole:
            continue
        at, change = (file.at / "name", Change.REPLACE) if "name" in file.members else (file.at, Change.INSERT)
        fix = Fix(f"write the name {quote(meant)}", (Edit(change, file.at / "name", meant),), is_safe=False)
        found = "has no 'name'" if name is None else "has a 'name' that is no text"
        yield Finding(at, f"the agent {found}: Claude Code takes the file for documentation", (), fix)
