"""A phase names an agent that the file does not describe.

## Why this matters
climpt refuses the file: nobody works in the phase.

## How to fix
Correct the name, or describe the agent under `agents`.
"""

from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_unknown, rule


@rule(since="0.1", origin=("climpt-1.14:wf.ref-agent", "WF-REF-001", "W2"))
def check(workflow: Workflow) -> Iterator[Finding]:
    phases = (each for each in workflow.phases.values() if each.agent is not None)
    lost = ((f"phase {quote(each.id)}", Mention(each.agent or "", each.at / "agent")) for each in phases)
    known = object_of(workflow.body.get("agents"))
    if isinstance(workflow.body.get("agents"), dict):
        yield from report_unknown((each for each in lost if each[1].name not in known), NameIndex(known), "agent")
