"""The hooks of an agent are malformed, so that Claude Code does not load it.

## Why this matters
One malformed entry of `PreToolUse` or `PermissionRequest`, or `hooks` that is no map, loses the whole agent. Neither a
message nor the log tells why. A malformed entry of another event costs that entry alone, which `STG3156` reports.

## How to fix
Write a map of events. Each has a list of entries with an optional `matcher` and a list `hooks`. Each hook has a `type`
and what its type needs: a `command`, a `prompt`, a `url`, or a `server` and a `tool`. A `timeout` is a number of
seconds.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import describe_hook_fault, rule


@rule(since="0.1", origin=("agent-files:unloadable-agent-hooks",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for each in files.claude.hooks:
        for fault in each.hooks.faults if each.kind == "claude-agent" else ():
            if fault.costs_file:
                reason = describe_hook_fault(fault, files.known)
                yield Finding(fault.at, f"Claude Code does not load the agent, because {reason}")
