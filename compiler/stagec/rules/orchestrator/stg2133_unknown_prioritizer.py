"""The prioritizer is no agent of the file.

## Why this matters
climpt 1.14 loads only the agents that the file describes. It refuses to start without the prioritizer.

## How to fix
Describe the agent under `agents`, or correct its name.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.json import object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.prioritizer-agent", "W8"))
def check(workflow: Workflow) -> Iterator[Finding]:
    name = text_in(object_of(workflow.body.get("prioritizer")), "agent")
    known = object_of(workflow.body.get("agents"))
    if workflow.release is Release.OLD or not isinstance(workflow.body.get("agents"), dict):
        return  # climpt 1.13 looks for the prioritizer among all agents of the project
    if name is not None and name not in known:
        names = NameIndex(known)
        message = f"prioritizer {quote(name)} is no agent of this file{hint(name, names)}"
        yield Finding(workflow.at / "prioritizer" / "agent", message, fix=guess(name, names))
