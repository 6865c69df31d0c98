"""What closes an issue is not written as climpt reads it.

## Why this matters
climpt closes nothing where it does not know the channel, and refuses a condition without a channel.

## How to fix
Write `primary` with one of the kinds `direct`, `boundary`, `outboxPre`, `custom` and `none`. A channel of kind
`custom` has `channel.channelId`. Remove `condition` where nothing closes.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import OFF, Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.close-kind",
        "climpt-1.14:wf.close-channel",
        "climpt-1.14:wf.close-cond",
        "A6",
        "WF-REF-005",
    ),
)
def check(workflow: Workflow) -> Iterator[Finding]:
    yield from report_shape(workflow, "malformed-close-binding")
    for agent in workflow.agents.values():
        close = agent.close
        if close is not None and close.condition is not None and close.channel == OFF:
            message = f"agent {quote(agent.id)} has a condition for closing issues, but closes none"
            yield Finding(close.condition.at, message)
