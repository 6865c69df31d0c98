"""An agent has another name in its definition than in the file.

## Why this matters
climpt knows an agent by the `name` of its `agent.json`, and looks for the name that the phase says. `directory` does
not help.

## How to fix
Use one name in both files. Two agents cannot share a definition.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Performer, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.agent-name", "W3", "A1"))
def check(workflow: Workflow) -> Iterator[Finding]:
    first: dict[str, Performer] = {}
    for agent in workflow.agents.values():
        if agent.definition is None or agent.called is None:
            continue
        other = first.setdefault(agent.called, agent)
        related = (Related(agent.definition / "name", "the name of the definition"),)
        if other is not agent:
            both = f"agents {quote(other.id)} and {quote(agent.id)}"
            message = f"{both} are both called {quote(agent.called)} in their definitions"
            yield Finding(agent.at.key, message, related)
        elif agent.called != agent.id and agent.called not in workflow.agents:
            yield Finding(
                agent.at.key, f"agent {quote(agent.id)} is called {quote(agent.called)} in its definition", related
            )
