"""What a step registry means: the flow it describes."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.frontends.registry.document import Registry, Step
from stagec.model.flow import Edge, Flow, Node


def lower(document: Registry) -> Flow:
    """Return the flow of a registry; sections are parts of prompts and therefore no nodes."""
    steps = [step for step in document.steps.values() if not _is_section(step)]
    nodes = {step.key: Node(step.key, step.kind, tuple(_edges(step, document)), step.at) for step in steps}
    entries = {verdict: entry.name for verdict, entry in document.entries.items()}
    return Flow(document.id, document.at, entries, nodes)


def _is_section(step: Step) -> bool:
    return step.phase == "section" or step.key.startswith("section.")


def _edges(step: Step, registry: Registry) -> Iterator[Edge]:
    for move in step.moves:
        target = None if move.target is None else registry.aliases.get(move.target, move.target)
        yield Edge(step.key, move.intent, target, step.place(move))
    if step.gate is not None and "repeat" in step.gate.allowed and "repeat" not in (step.intents or ()):
        yield Edge(step.key, "repeat", step.key, step.allowed_at / step.gate.allowed["repeat"])
    following = f"continuation.{step.key.removeprefix('initial.')}"
    if step.gate is None and step.intents is None and step.key.startswith("initial.") and following in registry.steps:
        yield Edge(step.key, "next", following, step.at)
