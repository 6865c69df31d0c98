"""An agent has no description.

## Why this matters
The description says when to use an agent. Claude Code does not load an agent without one, and GitHub requires it.

## How to fix
Add a `description` that is a text.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:undescribed-agent",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent", "copilot-agent"):
        given = file.members.get("description")
        is_copilot = file.kind.name == "copilot-agent"
        is_for_editor = is_copilot and file.members.get("target") == "vscode"
        is_named = is_copilot or isinstance(file.members.get("name"), str)
        if (isinstance(given, str) and given.strip()) or not is_named or is_for_editor or file.where.is_plugin:
            continue
        if file.reading.is_whole:
            at = file.at / "description" if "description" in file.members else file.at
            what = "no 'description'" if given is None or given == "" else "a 'description' that is no text"
            lost = "GitHub requires one" if is_copilot else "Claude Code does not load it"
            yield Finding(at, f"the agent has {what}: {lost}")
