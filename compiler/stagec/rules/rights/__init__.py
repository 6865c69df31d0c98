"""STG55x: what nodes may do, and what can come of it on the ways of a flow; opinions, silent until selected."""

from collections.abc import Iterator, Mapping

from stagec.core.place import Place
from stagec.core.rule import Family, Related
from stagec.core.words import quote
from stagec.graph.information import Leak
from stagec.model.rights import FlowRights, Label, Right

FAMILY = Family(__name__, (range(550, 600),), FlowRights, optional=True)
rule = FAMILY.rule

_SHOWN = 12
"""Nodes of a way that a message names."""


def noun(access: FlowRights) -> str:
    """Return what the system calls a node."""
    return access.flow.names.get("node", "node")


def group_rights(access: FlowRights) -> Mapping[tuple[Place, str], tuple[Right, tuple[str, ...]]]:
    """Return what is allowed, by where that is written and its name, with the nodes for which it is."""
    found: dict[tuple[Place, str], tuple[Right, list[str]]] = {}
    for node, rights in access.rights.items():
        for right in rights.tools:
            found.setdefault((right.at, right.name), (right, []))[1].append(node)
    return {key: (right, tuple(nodes)) for key, (right, nodes) in found.items()}


def describe_leak(access: FlowRights, leak: Leak) -> str:
    """Say who can send what others have read, and the way that leads there."""
    sender, node = access.rights[leak.sender].find(Label.SEND), noun(access)
    sends = f"{node} {quote(leak.sender)} can send to the outside with {_name(sender)}"
    private, untrusted = (
        _tell(access, leak, leak.private, Label.PRIVATE),
        _tell(access, leak, leak.untrusted, Label.UNTRUSTED),
    )
    names = list(dict.fromkeys(each.node for each in leak.way))
    if len(names) == 1:
        return f"{sends}, {private} and {untrusted}"
    shown = names if len(names) <= _SHOWN else [*names[: _SHOWN // 2], "…", *names[-_SHOWN // 2 :]]
    return f"{sends}, after {private} and {untrusted}: {' → '.join(shown)}"


def _tell(access: FlowRights, leak: Leak, node: str, label: Label) -> str:
    """Return who reads something, as a part of the sentence about the sender."""
    what = "private data" if label is Label.PRIVATE else "what strangers wrote"
    tool = _name(access.rights[node].find(label))
    alone = len({each.node for each in leak.way}) == 1
    if alone:
        return f"read {what} with {tool}"
    who = "it" if node == leak.sender else quote(node)
    return f"{who} can read {what} with {tool}"


def _name(right: Right | None) -> str:
    return quote(right.name if right is not None else "")


def relate_leak(access: FlowRights, leak: Leak) -> Iterator[Related]:
    """Yield where the readers are allowed what they do, and where the way goes."""
    for node, label, what in (
        (leak.private, Label.PRIVATE, "reads private data"),
        (leak.untrusted, Label.UNTRUSTED, "reads what strangers wrote"),
    ):
        right = access.rights[node].find(label)
        if right is not None:
            yield Related(right.at, f"{quote(right.name)} of {quote(node)} {what}")
    for step in leak.way[1:_SHOWN]:
        at = access.flow.nodes[step.node].at.key if step.edge is None else step.edge.at
        yield Related(at, f"the way leads to {quote(step.node)}")
