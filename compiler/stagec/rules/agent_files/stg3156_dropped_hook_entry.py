"""An entry of hooks is malformed, and Claude Code leaves it out.

## Why this matters
The entry is dropped without a word, with all hooks in it. The other entries still run.

## How to fix
Write every entry of an event as `{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}`. The matcher can
be absent. A hook of another type has a `prompt`, a `url`, or a `server` and a `tool` instead of a `command`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.hooks import GUARD_EVENTS
from stagec.rules.agent_files import describe_hook_fault, rule


@rule(since="0.1", origin=("agent-files:discarded-settings", "agent-files:unmatched-hook"), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for each in files.claude.hooks:
        for fault in each.hooks.faults if each.kind != "claude-agent" else ():
            if each.kind != "claude-settings" or fault.event not in GUARD_EVENTS:
                reason = describe_hook_fault(fault, files.known)
                yield Finding(fault.at, f"Claude Code leaves this entry of hooks out, because {reason}")
