"""An agent is described, and no phase and no prioritizer names it.

## Why this matters
climpt loads the agent and refuses to start if something is wrong with it, but it never works.

## How to fix
Name the agent in a phase, or remove it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, text_in
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.agent-idle",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    named = {phase.agent for phase in workflow.phases.values()}  # of a phase without work another rule speaks
    named.add(text_in(object_of(workflow.body.get("prioritizer")), "agent"))
    for agent in workflow.agents.values() if workflow.is_sound else ():
        if agent.id not in named:
            yield Finding(agent.at.key, f"agent {quote(agent.id)} works in no phase")
