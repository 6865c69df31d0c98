"""How many steps a run executes at least before it is in a closure step."""

from __future__ import annotations

from stagec.frontends.registry.document import Intent, Registry, Step, StepKind


def count_to_closure(registry: Registry, verdict: str) -> int | None:
    """Return how many steps the shortest way from the entry of a verdict type to a closure step has, both included.

    Nothing where no way is known to be the shortest: a step may lead anywhere, or a name on the way leads to nothing.
    """
    entry = registry.entries.get(verdict)
    first = registry.step(entry.name) if entry is not None else None
    reached, done, count = {first.key: first} if first is not None else {}, set[str](), 1
    while reached:
        if any(step.kind is StepKind.CLOSURE for step in reached.values()):
            return count
        if any(not _is_clear(registry, step) for step in reached.values()):
            return None
        done.update(reached)
        targets = (move.target for step in reached.values() for move in step.moves if move.target is not None)
        following = {step.key: step for step in map(registry.step, targets) if step is not None}
        reached, count = {key: step for key, step in following.items() if key not in done}, count + 1
    return None


def _is_clear(registry: Registry, step: Step) -> bool:
    """Tell whether it is known where a step leads."""
    if step.kind is None or step.is_section or step.gate is None or Intent.JUMP in step.gate.allowed:
        return False
    return all(registry.step(move.target) is not None for move in step.moves if move.target is not None)
