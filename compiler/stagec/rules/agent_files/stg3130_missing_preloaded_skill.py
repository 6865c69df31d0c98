"""An agent preloads a skill that the project does not have.

## Why this matters
Claude Code leaves out skills that it does not find. stagec sees only the project: the skill may be the user's own, so
this rule is an opinion.

## How to fix
Correct the name, or add the skill to `.claude/skills`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import list_names, rule


@rule(since="0.1", origin=("agent-files:missing-preloaded-skill",), severity=Severity.WARNING, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    found = {(skill.where.home, skill.where.name) for skill in document.of("claude-skill")}
    for file in document.of("claude-agent"):
        names = [] if file.where.is_plugin else list_names(file, "skills")
        for name, at in names:
            if ":" not in name and (file.where.home, name) not in found:
                yield Finding(at, f"the project has no skill {quote(name)}")
