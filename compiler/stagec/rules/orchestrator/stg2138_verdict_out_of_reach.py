"""A validator is stopped before it can give a verdict.

## Why this matters
The shortest way from its first step to a closing answer has more steps than `maxIterations`. The run ends without a
verdict, and climpt ends the run of the file with an error.

## How to fix
Raise `maxIterations` in the `agent.json` of the agent, or shorten the way.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.frontends.orchestrator.document import PerformerRole, Workflow
from stagec.graph import build
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-out-of-reach",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if (
            agent.role is not PerformerRole.VALIDATOR
            or called is None
            or called.limit is None
            or called.limit_at is None
        ):
            continue
        # of other limits the flow of the agent says the same, and says it there
        if (
            called.is_whole
            and not called.flow.open
            and called.entry in called.flow.entries
            and called.flow.bound is None
        ):
            least = build(called.flow).shortest_run(called.entry)
            if least is not None and least > called.limit:
                takes = f"agent {quote(agent.id)} needs at least {format_count(least, 'step')} for a verdict"
                related = (Related(called.limit_at, "the limit"),)
                yield Finding(agent.at.key, f"{takes}, but stops after {called.limit}", related)
