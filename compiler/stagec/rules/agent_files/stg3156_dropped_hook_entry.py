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
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.hooks import Hooks
from stagec.frontends.agent_files.known import Known
from stagec.rules.agent_files import describe_hook_fault, rule

_LOST = frozenset({"claude-settings", "claude-agent"})
"""Kinds of files that a malformed guard costs as a whole; other rules report that."""


@rule(since="0.1", origin=("agent-files:discarded-settings", "agent-files:unmatched-hook"), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    events = files.known.names("events")
    for each in files.claude.hooks:
        yield from _judge_types(each.hooks, files.known)
        for fault in each.hooks.faults:
            is_told = fault.event not in events or (fault.costs_file and each.kind in _LOST)
            if not is_told:
                reason = describe_hook_fault(fault, files.known)
                yield Finding(fault.at, f"Claude Code leaves this entry of hooks out, because {reason}")


def _judge_types(hooks: Hooks, known: Known) -> Iterator[Finding]:
    """Yield the hooks of a type that their event does not run."""
    unfit = known.aliases("unfit-hook-types")
    for entry, hook in [(each, hook) for each in hooks.entries for hook in each.hooks]:
        if hook.members.get("type") in unfit.get(entry.event, ()):
            told = f"hooks of the type {quote(hook.members['type'])} fail for {quote(entry.event)}"
            yield Finding(hook.at / "type", told)
