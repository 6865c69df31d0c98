"""A close binding that climpt 1.14 does not read.

## Why this matters
Of the channels, climpt 1.14 reads `direct` alone. `boundary`, `outboxPre` and `custom` close issues at their own
events, whatever is written here, and `cascade` does nothing.

## How to fix
Nothing is wrong for other runners. With climpt 1.14, use `direct`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.portability import rule


@rule(since="0.1", origin=("climpt-1.14:wf.close-inert",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        close = agent.close
        if close is None:
            continue
        if close.channel in {"boundary", "outboxPre", "custom"}:
            yield Finding(
                close.at / "primary" / "kind",
                f"climpt 1.14 does not read {quote(close.channel)} of agent {quote(agent.id)}",
            )
        if object_of(agent.body.get("closeBinding")).get("cascade") is True:
            yield Finding(close.at / "cascade", f"climpt 1.14 does not read 'cascade' of agent {quote(agent.id)}")
