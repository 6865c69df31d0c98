"""The rights of nodes: the tools and programs that they may call, the reach of these, and the permission mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cached_property

from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.plan.node import Edge, Go, Named, Stop, list_targets


class Label(StrEnum):
    """The reads and effects of a tool that matter for information flow."""

    PRIVATE = "private"
    UNTRUSTED = "untrusted"
    WRITE = "write"
    SEND = "send"


class Teller(StrEnum):
    """The source of a statement about the effects of a tool."""

    CATALOGUE = "catalogue"
    LIST = "list"
    LOCK = "lock"
    NOBODY = "nobody"


@value
class Labelled:
    """The effects of a tool, and the most trusted source that labels them."""

    labels: frozenset[Label] = frozenset()
    teller: Teller = Teller.NOBODY
    at: Place | None = None


@value
class Right:
    """A tool that a node may call, or a program that it runs; `at` is where that is allowed."""

    name: str
    at: Place
    labelled: Labelled
    is_program: bool = False


PLAN = "plan"
_LOOSENESS: Mapping[str, int] = {
    PLAN: 0,
    **dict.fromkeys(("default", "manual", "dontAsk"), 1),
    "acceptEdits": 2,
    **dict.fromkeys(("auto", "bypassPermissions"), 3),
}


@value
class PermissionMode:
    """A permission mode, and where it is written; `at` None is one that a node has because nobody writes another."""

    name: str
    at: Place | None = None

    @property
    def looseness(self) -> int | None:
        """The rank of the mode: the more it permits without asking, the larger. None for an unknown mode."""
        return _LOOSENESS.get(self.name)


@value
class ShellText:
    """A text of somebody's that becomes a part of a program: `what` it is, and the words of the command line."""

    what: str
    at: Place
    program: str


@value
class Rights:
    """The rights of one node.

    `is_open` tells that nobody limits its tools: it may call whatever its host has, but for those it is `without`.
    `general` is the mode that is written for all nodes together. `prompts` are the instructions of the model, None
    where one of them is unknown. `shell` are the texts of others that become parts of programs. A node that `is_fixed`
    runs a program whose actions do not depend on the texts that it reads: no model decides there.
    """

    tools: tuple[Right, ...] = ()
    is_open: bool = False
    mode: PermissionMode | None = None
    general: PermissionMode | None = None
    prompts: tuple[str, ...] | None = None
    shell: tuple[ShellText, ...] = ()
    is_fixed: bool = False
    without: tuple[str, ...] = ()

    def labels_of(self, right: Right) -> frozenset[Label]:
        """Return the effects of a tool in the mode of the node: one that only plans changes nothing."""
        labels = right.labelled.labels
        is_planning = self.mode is not None and self.mode.name == PLAN and not right.is_program
        return labels - {Label.WRITE, Label.SEND} if is_planning and Label.WRITE in labels else labels

    @property
    def labels(self) -> frozenset[Label]:
        """The effects that the node can have."""
        return frozenset[Label]().union(*map(self.labels_of, self.tools))

    def find(self, label: Label) -> Right | None:
        """Return the first tool that reads or does something."""
        return next((each for each in self.tools if label in self.labels_of(each)), None)


class FlowRights:
    """The rights of the nodes of a flow, read on demand; `inner` are the agents that run inside nodes.

    One that `is_alone` belongs to a single file without a flow.
    """

    def __init__(
        self,
        flow: Flow,
        read: Callable[[], Mapping[str, Rights]],
        inner: Callable[[], Mapping[str, FlowRights]] | None = None,
        *,
        is_alone: bool = False,
    ) -> None:
        self.flow = flow
        self.is_alone = is_alone
        self._read = read
        self._inner = inner

    @cached_property
    def rights(self) -> Mapping[str, Rights]:
        """The rights of each node."""
        return self._read()

    @cached_property
    def inner(self) -> Mapping[str, FlowRights]:
        """The rights of the agents that run inside nodes, by the node."""
        return NOTHING if self._inner is None else self._inner()

    @cached_property
    def whole(self) -> FlowRights:
        """The same with the steps of agents in the place of the nodes that run them, as `NODE/STEP`."""
        if not self.inner:
            return self
        nodes: dict[str, FlowNode] = {}
        rights = dict(self.rights)
        for name, node in self.flow.nodes.items():
            if name not in self.inner:
                nodes[name] = node
                continue
            agent = self.inner[name]
            begun = tuple(dict.fromkeys(f"{name}/{each.node}" for each in agent.flow.begun))
            nodes[name] = _with_edges(
                node, tuple(WrittenEdge(name, Edge("begins", Go(each)), node.at) for each in begun)
            )
            for step, each in agent.flow.nodes.items():
                nodes[f"{name}/{step}"] = _move_inside(name, each, node.edges)
                rights[f"{name}/{step}"] = agent.rights.get(step, Rights())
        flow = self.flow
        joined = Flow(flow.id, flow.at, flow.entries, nodes, names=flow.names, schedules=flow.schedules)
        return FlowRights(joined, lambda: rights)


def _move_inside(owner: str, step: FlowNode, after: tuple[WrittenEdge, ...]) -> FlowNode:
    """Return a step of an agent in the flow of the node that runs it: where the agent ends, the node is left."""
    edges: list[WrittenEdge] = []
    name = f"{owner}/{step.id}"
    for edge in step.edges:
        if isinstance(edge.target, Stop):
            edges.extend(WrittenEdge(name, Edge(each.on, each.target), each.at) for each in after)
        else:
            inside = {each: f"{owner}/{each}" for each in list_targets(edge.target)}
            edges.append(WrittenEdge(name, Edge(edge.on, Named(inside)), edge.at))
    return _with_edges(FlowNode(name, step.at, step.kind), tuple(edges))


def _with_edges(node: FlowNode, edges: tuple[WrittenEdge, ...]) -> FlowNode:
    return FlowNode(node.id, node.at, node.kind, edges, parts=node.parts, agent=node.agent)


def stand_alone(name: str, at: Place, rights: Rights, noun: str) -> FlowRights:
    """Return the access of what has no flow: one node that does everything."""
    flow = Flow(name, at, {"": Entry(name, at)}, {name: FlowNode(name, at)}, names={"node": noun})
    return FlowRights(flow, lambda: {name: rights}, is_alone=True)
