"""A value of a skill or a command is of a kind that Claude Code drops, or has no effect.

## Why this matters
Claude Code loads the file and leaves the value out, without telling: the description, the permission or the separate
context that was asked for is not there.

## How to fix
Write a value that the message names. `agent` and `background` count only with `context: fork`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.values import find_misfits, present
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:mistyped-skill-value",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("claude-skill", "claude-command"):
        for wrong in find_misfits(present(file.members), file.at, files.known, "skill"):
            is_label = wrong.key == "name" and file.kind.name == "claude-command"
            if not is_label:
                yield Finding(wrong.at, f"Claude Code drops this value: {wrong}")
        for wrong in find_misfits(present(file.members), file.at, files.known, "switches"):
            yield Finding(wrong.at, f"Claude Code ignores this switch: {wrong}")
        for key in ("agent", "background"):
            if key in file.members and file.members.get("context") is None:
                yield Finding((file.at / key).key, f"{quote(key)} has no effect without 'context: fork'")
