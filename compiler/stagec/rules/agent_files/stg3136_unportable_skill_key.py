"""A skill has a key that the specification of skills does not have.

## Why this matters
Tools that check skills by the specification refuse other keys. Claude Code reads more of them, so this rule is an
opinion.

## How to fix
Keep to `name`, `description`, `license`, `compatibility`, `metadata` and `allowed-tools`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import SKILLS, rule


@rule(since="0.1", origin=("agent-files:unportable-skill-key",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    keys = document.known.keys("skill", "Agent Skills")
    for file in document.of(*SKILLS):
        for key in file.members:
            if key not in keys:
                yield Finding((file.at / key).key, f"the specification of skills has no key {quote(key)}")
