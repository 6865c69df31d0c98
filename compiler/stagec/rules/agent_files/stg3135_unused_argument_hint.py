"""A command or a skill shows a hint for arguments that its text does not use.

## Why this matters
The user is told to write arguments. Without `$ARGUMENTS` in the text they are added at its end, where the author may
not expect them.

## How to fix
Write `$ARGUMENTS` or `$0` where the arguments belong, or delete the hint.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_USED = re.compile(r"\$(?:ARGUMENTS|\d|\{)")


@rule(since="0.1", origin=("agent-files:unused-argument-hint",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-command", "claude-skill"):
        is_named = "arguments" in file.members
        if "argument-hint" in file.members and not is_named and not _USED.search(file.text):
            yield Finding((file.at / "argument-hint").key, f"the text of this {file.title} uses no argument")
