"""A flow: nodes, and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.place import Place
from stagec.core.value import value


@value
class Edge:
    """One possible move from a node: the outcome that allows it, and where it leads; `target` None ends the run."""

    source: str
    outcome: str
    target: str | None
    at: Place


@value
class Node:
    """One step, stage or envelope of a flow."""

    id: str
    kind: str | None
    edges: tuple[Edge, ...]
    at: Place


@value
class Flow:
    """One executable graph; `entries` says for every way of starting a run which node it starts at."""

    id: str
    at: Place
    entries: Mapping[str, str]
    nodes: Mapping[str, Node]
