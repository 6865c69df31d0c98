"""A label or an outcome leads to a phase that does not exist.

## Why this matters
climpt refuses the file, or the run ends with an error when the outcome comes.

## How to fix
Correct the name, or add the phase. Phases that `projectBinding` names are told by [STG2116](STG2116.md).
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_unknown, rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.label-phase",
        "climpt-1.14:wf.ref-fallback",
        "climpt-1.14:wf.ref-output",
        "climpt-1.14:wf.ref-outputs",
        "climpt-1.14:wf.ref-fallbacks",
        "WF-REF-002",
    ),
)
def check(workflow: Workflow) -> Iterator[Finding]:
    if workflow.phases:  # what a file without phases lacks is told once
        yield from report_unknown(_list_lost(workflow), workflow.names, "phase")


def _list_lost(workflow: Workflow) -> Iterator[tuple[str, Mention]]:
    mentions = [(f"label {quote(label)}", mention) for label, mention in workflow.labels.items()]
    for agent in workflow.agents.values():
        user = f"of agent {quote(agent.id)}"
        mentions += ((f"outcome {quote(each.outcome)} {user}", each.phase) for each in agent.list_named())
    return ((user, mention) for user, mention in mentions if not workflow.has_phase(mention.name))
