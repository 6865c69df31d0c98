"""An agent of climpt 1.14 says in the way of climpt 1.13 when issues are closed.

## Why this matters
climpt 1.14 reads neither `closeOnComplete` nor `closeCondition`: it loads the file and never closes an issue.

## How to fix
Write `"closeBinding": {"primary": {"kind": "direct"}}` for `"closeOnComplete": true`, and `closeCondition` as
`condition` in it. Remove `"closeOnComplete": false`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-close",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values() if workflow.release is Release.NEW else ():
        old = [name for name in ("closeOnComplete", "closeCondition") if name in agent.body]
        if old:
            message = f"agent {quote(agent.id)} has {listing(old)}, which climpt 1.14 does not read: no issue is closed"
            yield Finding((agent.at / old[0]).key, message)
