"""The registry belongs to another agent than the one whose definition lies beside it.

## Why this matters
`agentId` and the `name` in `agent.json` are compared before an agent starts; when they differ it does not start.

## How to fix
Make them equal. After copying an agent, both carry the new name.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:boot.agentid-mismatch", "steps-registry:doc.R-A1", "SR-LOAD-002"),
)
def check(registry: Registry) -> Iterator[Finding]:
    agent, name = registry.agent, registry.body.get("agentId")
    if agent is None or not agent.name or not isinstance(name, str) or not name or name == agent.name:
        return
    message = f"the registry is that of agent {quote(name)}, but the agent beside it is {quote(agent.name)}"
    yield Finding(registry.at / "agentId", message, (Related(agent.at / "name", "the agent's name"),))
