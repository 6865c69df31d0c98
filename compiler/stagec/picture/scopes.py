"""What follows when a node has ended: the next of a chain, the join of a fork, or the end of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.model.flow import Edge, Flow, Mode, To

After = tuple[str, bool] | None
"""The node that starts when a scope has ended, and whether it is the next of a chain; None ends the run."""

_MOST = 50
"""Scopes that one node is drawn in; flows of people have one or two."""


def follow_ups(flow: Flow) -> Mapping[str, tuple[After, ...]]:
    """Return for each node what may follow when it ends the scope it runs in, in the order in which it is found."""
    found: dict[str, dict[After, None]] = {name: {} for name in flow.nodes}
    for roots in _roots(flow):
        _spread(flow, found, [(name, None) for name in roots if not found[name]])
    for name in flow.nodes:
        _spread(flow, found, [(name, None)] if not found[name] else [])
    return {name: tuple(after) for name, after in found.items()}


def openings(target: To, after: After) -> Iterator[tuple[str, After]]:
    """Yield each node that runs because of a target, with what follows when it has ended."""
    if target.join is not None:
        yield target.join, after
    last: After = after if target.join is None else (target.join, False)
    for at, name in enumerate(target.nodes):
        following = target.nodes[at + 1 : at + 2] if target.mode is Mode.CHAIN else ()
        yield name, (following[0], True) if following else last


def forward(flow: Flow) -> Iterator[tuple[Edge, To]]:
    """Yield every edge that leads to nodes, and where it leads."""
    edges = (edge for node in flow.nodes.values() for edge in node.edges)
    return ((edge, edge.target) for edge in edges if isinstance(edge.target, To))


def _roots(flow: Flow) -> Iterator[list[str]]:
    """Yield the entries, then the nodes to which no edge leads."""
    yield [entry.node for entry in flow.entries.values() if entry.node in flow.nodes]
    led = {name for _, target in forward(flow) for name in (*target.nodes, target.join)}
    yield [name for name in flow.nodes if name not in led]


def _spread(flow: Flow, found: Mapping[str, dict[After, None]], todo: list[tuple[str, After]]) -> None:
    while todo:
        name, after = todo.pop()
        if name not in found or after in found[name] or len(found[name]) == _MOST:
            continue
        found[name][after] = None
        for edge in flow.nodes[name].edges:
            if isinstance(edge.target, To):
                todo.extend(openings(edge.target, after))
