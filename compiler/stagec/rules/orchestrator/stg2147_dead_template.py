"""A comment has a key that no agent and outcome make.

## Why this matters
climpt looks for the comment under the name of the agent, followed by `To` or nothing, and the outcome with its first
letter in upper case. Hyphens stay: `handoff-detail` becomes `ArtifactHandoff-detail`. This comment is never written.

## How to fix
Correct the key.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.frontends.orchestrator.outcomes import list_template_keys
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.template-dead",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    given = object_of(object_of(workflow.body.get("handoff")).get("commentTemplates"))
    every = (key for agent in workflow.agents.values() for key in list_template_keys(workflow, agent))
    known = NameIndex(every if given else ())
    # what is written about an agent that is not there, or that cannot be read, is that one's fault
    names = {each.agent for each in workflow.phases.values() if each.agent is not None} - workflow.agents.keys()
    doubtful = (*names, *(each.id for each in workflow.agents.values() if not each.is_whole))
    for key in given if isinstance(workflow.body.get("agents"), dict) else ():
        if key not in known and not key.startswith(doubtful):
            at = (workflow.at / "handoff" / "commentTemplates" / key).key
            yield Finding(at, f"comment {quote(key)} is written after no outcome of any agent{hint(key, known)}")
