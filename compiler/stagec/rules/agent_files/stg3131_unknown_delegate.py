"""The text of an agent, a skill or a command delegates to an agent that the project does not have.

## Why this matters
The model looks for an agent that is not there, and does something else instead. stagec sees only the project: the
agent may be the user's own, so this rule is an opinion.

## How to fix
Correct the name, or add the agent.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_NAMED = re.compile(r"@agent-([\w-]+)|subagent_type:[ ]*[\"']?([\w-]+)")


@rule(since="0.1", origin=("agent-files:unknown-delegate",), severity=Severity.WARNING, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    known = {*document.known.names("built-in-agents")}
    known |= {str(file.members.get("name")) for file in document.of("claude-agent")}
    for file in document.of("claude-agent", "claude-skill", "claude-command") if known else ():
        start = (file.tree.body or (0, 0))[0]
        for found in _NAMED.finditer(file.text, start):
            name = found[1] or found[2]
            if name not in known:
                at = Place(file.at.file, range=found.span(1 if found[1] else 2))
                yield Finding(at, f"the project has no agent {quote(name)}")
