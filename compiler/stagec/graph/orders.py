"""Which nodes of a flow can begin after which, whatever is answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

from stagec.model.flow import Edge, Flow, Mode, Pick, To


def list_targets(edge: Edge) -> tuple[str, ...]:
    """Return the nodes that an edge leads to, at once or at last."""
    target = edge.target
    if isinstance(target, To):
        return target.nodes if target.join is None else (*target.nodes, target.join)
    return target.nodes if isinstance(target, Pick) else ()


def find_later(flow: Flow, begun: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield every node that can begin after one of some nodes, with that one: the nearest of them."""
    led: dict[str, list[str]] = {name: list(flow.nodes) if name in flow.open else [] for name in flow.nodes}
    for earlier, later in list_orders(flow):
        led.setdefault(earlier, []).append(later)
    origin = {name: name for name in begun}
    waiting, told = deque(origin), set[str]()
    while waiting:
        name = waiting.popleft()
        for each in led.get(name, ()):
            if each not in told and each in flow.nodes:
                told.add(each)
                yield each, origin[name]
            if each not in origin:
                origin[each] = origin[name]
                waiting.append(each)


def list_orders(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield pairs of nodes of which one can begin when the other has ended."""
    for edge in (each for node in flow.nodes.values() for each in node.edges):
        yield from ((edge.source, each) for each in list_targets(edge))
        if isinstance(edge.target, To) and edge.target.mode is Mode.CHAIN:
            yield from pairwise(edge.target.nodes)
        elif isinstance(edge.target, To) and edge.target.join is not None:
            yield from ((each, edge.target.join) for each in edge.target.nodes)
    for schedule in flow.schedules.values():
        yield from ((each, name) for name, needs in schedule.names.items() for each in needs)
