"""Nodes and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from stagec.core.value import NOTHING, value
from stagec.plan.act import Act
from stagec.plan.gate import Admission, Gate, Retry, Term, Validation


class Outcome(StrEnum):
    """How a run, or a branch of it, ends."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    BLOCKED = "blocked"


@value
class Go:
    """Continue with one node; `otherwise` is the node that runs instead when it cannot start."""

    node: str
    otherwise: str | None = None


@value
class Fork:
    """Run several nodes together, in a scope of their own; then the join, if there is one."""

    nodes: tuple[str, ...]
    join: str | None = None


@value
class Chain:
    """Run several nodes one after the other, each in a scope of its own."""

    nodes: tuple[str, ...]


@value
class Named:
    """Continue with the node that the answer names; counts only when there is such a node among these.

    `nodes` maps what an answer may say to the node it means.
    """

    nodes: Mapping[str, str]


@value
class Pick:
    """Continue with the node that the answer names; counts only when there is such a node among some of the plan.

    `choices` is the name under which the plan's `choices` say what an answer may say and which node it means: once for
    all targets that have it in common.
    """

    choices: str


@value
class Schedule:
    """Run many nodes in a scope of their own, each as soon as the nodes that it needs have ended as done."""

    needs: Mapping[str, tuple[str, ...]]


@value
class Stop:
    """End the branch; outside every scope, end the run."""

    outcome: Outcome


Target = Go | Fork | Chain | Named | Pick | Schedule | Stop
Entry = str | Schedule
"""Where a run begins: with one node, or with those of a schedule that need nothing."""


@value
class Edge:
    """One possible move: the outcome that allows it, what must hold of the result, and where it leads.

    Of the edges of one outcome the first counts of which all terms hold.
    """

    on: str
    target: Target
    when: tuple[Term, ...] = ()


@value
class Node:
    """One step or stage. `hooks` are Python callables, `package.module:function`, by the phase they take part in."""

    act: Act
    gate: Gate
    edges: tuple[Edge, ...]
    kind: str | None = None
    title: str | None = None
    admission: Admission | None = None
    retry: Retry | None = None
    validation: Validation | None = None
    hooks: Mapping[str, str] = NOTHING


def list_targets(target: Target) -> tuple[str, ...]:
    """Return the nodes that a target itself names; those of a `Pick` are named by the plan."""
    match target:
        case Go():
            return (target.node,) if target.otherwise is None else (target.node, target.otherwise)
        case Fork():
            return target.nodes if target.join is None else (*target.nodes, target.join)
        case Chain():
            return target.nodes
        case Named():
            return tuple(target.nodes.values())
        case Schedule():
            return tuple(target.needs)
        case Pick() | Stop():
            return ()


def list_begun(entry: Entry) -> tuple[str, ...]:
    """Return the nodes that an entry begins, at once or later."""
    return (entry,) if isinstance(entry, str) else list_targets(entry)
