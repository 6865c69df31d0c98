"""An agent of the file has no definition.

## Why this matters
climpt loads every agent of the file when it starts, whether or not a phase names it, and refuses to start without one
of them.

## How to fix
Add `.agent/DIRECTORY/agent.json`, or correct `directory`, which is the name of the agent where it is not written.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.agent-missing", "A2"))
def check(workflow: Workflow) -> Iterator[Finding]:
    lost = (agent for agent in workflow.agents.values() if agent.definition is None)
    for agent in lost if workflow.has_agents else ():
        at = agent.at / "directory" if "directory" in agent.body else agent.at.key
        yield Finding(at, f"agent {quote(agent.id)} has no file '.agent/{agent.directory}/agent.json'")
