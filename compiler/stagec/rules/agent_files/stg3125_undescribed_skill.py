"""A skill has no description.

## Why this matters
The model chooses a skill by its description. Without one Claude Code takes the first paragraph of the text; OpenCode
drops the skill, and the tools that install skills refuse it.

## How to fix
Add a `description`: what the skill does, and when to use it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import SKILLS, rule


@rule(since="0.1", origin=("agent-files:undescribed-skill",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of(*SKILLS):
        given = file.members.get("description")
        is_blank = given is None or (isinstance(given, str) and not given.strip())
        if is_blank and (file.reading.is_whole or file.reading.is_bare):
            at = file.at / "description" if "description" in file.members else file.at
            yield Finding(at, "the skill has no 'description': OpenCode drops it, others refuse it")
