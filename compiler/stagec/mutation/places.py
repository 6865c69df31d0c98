"""Where in the sources of a flow the thing is written that a mutant changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.place import Key, Place, Pointer
from stagec.model.flow import Flow, Node
from stagec.mutation.mutant import Mutant
from stagec.sources.tree import Tree

_WORDS: Mapping[Key, tuple[str, ...]] = {
    "turns": ("turnCap",),
    "tools": ("allowedTools", "tools"),
    "schema": ("completionSchema", "outputSchemaRef"),
    "accepts": ("inputsSchema",),
    "retry": ("retryPolicy", "resilience", "retry"),
    "retryable": ("sideEffects", "retryable"),
    "gate": ("structuredGate", "checks"),
    "intents": ("allowedIntents",),
    "handoff": ("handoffFields",),
    "fallback": ("fallbackIntent",),
    "variables": ("inputs", "uvVariables"),
    "inputs": ("inputs", "context", "parameters"),
    "admission": ("admission", "gate"),
    "hooks": ("hooks",),
    "needs": ("dependencies", "dependsOn"),
    "validation": ("validation",),
    "limits": ("maxStageExecutions", "maxParallel"),
    "parallel": ("maxParallel",),
    "executions": ("maxStageExecutions",),
}
"""What the members of plans are called in sources, by the front ends."""


class SourcePlaces:
    """Finds the places of a flow, as exactly as its front end has kept them."""

    def __init__(self, flow: Flow, trees: Mapping[str, Tree]) -> None:
        self._flow, self._trees = flow, trees

    def find(self, mutant: Mutant) -> Place:
        """Return where the thing is written that a mutant changes, or what it is a part of."""
        flow, at = self._flow, mutant.at
        name = mutant.node if mutant.node is not None else self._find_scheduled(at)
        node = None if name is None else flow.nodes.get(name)
        if node is not None:
            return self._find_in_node(node, at)
        if at[0] == "entries" and str(at[1]) in flow.entries:
            return flow.entries[str(at[1])].at
        if at[0] == "limits" and "parallel" not in at and flow.bound is not None:
            return flow.bound.at
        return self._descend(flow.at, at)

    def _find_scheduled(self, at: Pointer) -> str | None:
        return str(at[at.index("needs") + 1]) if "needs" in at else None

    def _find_in_node(self, node: Node, at: Pointer) -> Place:
        parts = dict(node.parts)
        way = at[2:] if at[0] == "nodes" else at
        if way[:1] == ("edges",):
            edges = [each.at for each in node.edges]
            found = edges[int(way[1])] if int(way[1]) < len(edges) else node.at
            return found if found.pointer else node.at
        if way[:2] == ("act", "prompt") and "prompt" in parts:
            return parts["prompt"]
        if way[:2] == ("act", "schema") and "schema" in parts:
            return self._follow(parts["schema"], way[2:])
        return self._descend(node.at, way)

    def _descend(self, base: Place, way: Pointer) -> Place:
        """Return the place below a base that some member of a way is called by, the base where there is none."""
        found = base
        for key in way:
            for candidate in self._list_candidates(base if found is base else found, key):
                if self._has(candidate):
                    found = candidate
                    break
        return found

    def _list_candidates(self, at: Place, key: Key) -> Iterator[Place]:
        for word in (*_WORDS.get(key, ()), key):
            yield at / word
            if at.pointer[-1:] == ("id",):  # a definition is known by the member that names it
                yield Place(at.file, (*at.pointer[:-1], word))

    def _follow(self, base: Place, way: Pointer) -> Place:
        """Return the deepest place below a base on a way."""
        found = base
        for key in way:
            if not self._has(found / key):
                break
            found = found / key
        return found

    def _has(self, at: Place) -> bool:
        held: Any = self._trees[at.file].value if at.file in self._trees else None
        for key in at.pointer:
            is_member = isinstance(held, dict) and key in held
            if not is_member and not (isinstance(held, list) and isinstance(key, int) and key < len(held)):
                return False
            held = held[key]
        return held is not None
