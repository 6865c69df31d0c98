"""The names in an orchestrator file."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.ir.flow import NameKind, Occurrence
from stagec.languages.orchestrator.document import Workflow


def list_names(document: Workflow) -> Iterator[Occurrence]:
    """Yield every place at which a phase or an agent is defined or mentioned."""
    owner = document.at.file
    for phase in document.phases.values():
        yield Occurrence(NameKind.PHASE, phase.id, owner, phase.at.key, phase.at)
        if phase.agent is not None:
            yield Occurrence(NameKind.AGENT, phase.agent, owner, phase.at / "agent")
    for mention in (*document.list_mentions(), *document.starts.values()):
        yield Occurrence(NameKind.PHASE, mention.name, owner, mention.at)
    for agent in document.agents.values():
        yield Occurrence(NameKind.AGENT, agent.id, owner, agent.at.key, agent.at)
    for handoff in document.handoffs:
        if handoff.agent is not None:
            yield Occurrence(NameKind.AGENT, handoff.agent, owner, handoff.at / "agent")
