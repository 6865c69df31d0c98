"""A description does not say when to use an agent or a skill.

## Why this matters
The model chooses agents and skills by their descriptions. One that says only what they do is chosen too often or
never.

## How to fix
Say when to use it: "Use when …", "after …", "before …".
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import SKILLS, rule

_TIMES = re.compile(r"\b(?:when|whenever|after|before|if|for|use)\b", re.IGNORECASE)


@rule(since="0.1", origin=("agent-files:timeless-description",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent", *SKILLS):
        given = file.members.get("description")
        if isinstance(given, str) and given.strip() and not _TIMES.search(given):
            yield Finding(file.at / "description", f"the description does not say when to use this {file.title}")
