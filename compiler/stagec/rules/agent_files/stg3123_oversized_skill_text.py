"""A text of a skill is longer than the specification of skills allows.

## Why this matters
Claude Code reads such a skill, or cuts the text. Codex skips a skill whose name or description is too long, and other
tools refuse it.

## How to fix
Shorten the text: 64 characters for `name`, 1,024 for `description`, 500 for `compatibility`. Details belong below the
frontmatter.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import SKILLS, rule

_MOST = {"name": 64, "description": 1_024, "compatibility": 500}


@rule(since="0.1", origin=("agent-files:oversized-skill-text",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of(*SKILLS):
        for key, most in _MOST.items():
            given = file.members.get(key)
            if isinstance(given, str) and len(given) > most:
                message = f"{quote(key)} has {len(given)} characters, and skills allow {most}: Codex and others skip it"
                yield Finding(file.at / key, message)
