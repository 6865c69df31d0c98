"""The tools of an agent are empty, so that it has none.

## Why this matters
Without the key `tools` an agent of Claude Code may use every tool; with nothing behind it the agent has none at all.
A map of tools is the form of OpenCode, which Claude Code does not read.

## How to fix
Delete the line if the agent may use every tool, as `stagec validate --unsafe-fixes` does, or name the tools.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:emptied-tools",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        given = file.members.get("tools", "absent")
        is_blank = given is None or (isinstance(given, str | list | dict) and not given)
        if is_blank or isinstance(given, dict) or (isinstance(given, str) and not given.strip(" ,\n")):
            what = "are a map" if isinstance(given, dict) and given else "are empty"
            edits = (Edit(Change.REMOVE, file.at / "tools"),)
            fix = Fix("delete 'tools'", edits, is_safe=False) if given is None else None
            yield Finding(file.at / "tools", f"the tools of this agent {what}: Claude Code gives it none", (), fix)
