"""A handoff of a Copilot agent leads to an agent that is not in the project.

## Why this matters
VS Code also knows agents of the user and of extensions, which are not in the project. On another machine the agent may
not be there, and then the button leads nowhere.

## How to fix
Correct the name. It is the `name` of the other agent, or what its file is called.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.handoffs import list_handoff_targets
from stagec.rules.agent_files import rule

_BUILT_IN = ("agent", "ask", "edit", "plan", "Agent", "Ask", "Edit", "Plan")


@rule(since="0.1", origin=("agent-files:unknown-handoff-target",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    agents = tuple(files.of("copilot-agent", "copilot-chat-mode", "claude-agent"))
    named = (name for each in agents if (name := text_in(each.members, "name")) is not None)
    known = NameIndex((*_BUILT_IN, *(each.where.name for each in agents), *named))
    for file in agents:
        for target in list_handoff_targets(file.members.get("handoffs"), file.at / "handoffs"):
            if target.name not in known:
                yield Finding(
                    target.at, f"no agent of the project is called {quote(target.name)}{hint(target.name, known)}"
                )
