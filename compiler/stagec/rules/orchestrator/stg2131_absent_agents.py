"""The project has no agents.

## Why this matters
stagec reads the definitions and schemas of the agents to know their verdicts. Without them it judges the file alone.

## How to fix
Run stagec on the project that has the agents. Nothing is wrong with the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.agent-missing",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    if workflow.agents and not workflow.has_agents:
        yield Finding(workflow.at / "agents", "the project has no agents: what they answer is not judged")
