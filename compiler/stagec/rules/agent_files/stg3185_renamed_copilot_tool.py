"""An agent or a prompt of VS Code names a tool by its old name.

## Why this matters
VS Code still knows the old name. Other programs that read the file do not.

## How to fix
Write the new name, which begins with the set that the tool is in.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import COPILOT
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:renamed-copilot-tool",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    renamed = files.known.aliases("renamed-tools", COPILOT)
    for file in files.of("copilot-agent", "copilot-chat-mode", "copilot-prompt"):
        for entry in list_tools(file, files.known):
            meant = renamed.get(entry.name)
            if meant is not None:
                is_alone = len(entry.at.pointer) > 1
                fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, entry.at, meant),)) if is_alone else None
                yield Finding(entry.at, f"the tool {quote(entry.name)} is called {quote(meant)} now", fix=fix)
