"""Nodes and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from stagec.core.value import NOTHING, value
from stagec.ir.plan.act import Act
from stagec.ir.plan.codec import NON_EMPTY, Call, ChoicesName, Count, NodeName, Path, Positive, words
from stagec.ir.plan.gate import Admission, Gate, Retry, Term, Validation


class Outcome(StrEnum):
    """The end of a run, or of a branch of it."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    BLOCKED = "blocked"


@value(tag="go")
class Go:
    """Continue with one node; `otherwise` is the node that runs instead when it cannot start."""

    node: Annotated[NodeName, "The next node."]
    otherwise: Annotated[NodeName | None, "The node that runs when that one cannot start."] = None


@value(tag="fork")
class Fork:
    """Run several nodes together, in a scope of their own; then the join, if there is one."""

    nodes: Annotated[tuple[NodeName, ...], NON_EMPTY, "The nodes that run together, in the order in which they start."]
    join: Annotated[NodeName | None, "The node that runs when all of them have ended as done."] = None


@value(tag="chain")
class Chain:
    """Run several nodes one after the other, each in a scope of its own."""

    nodes: Annotated[tuple[NodeName, ...], NON_EMPTY, "The nodes that run one after the other."]


@value(tag="each")
class ForEach:
    """Run nodes one after the other for each element of a list, the elements together; then the join, if there is one.

    A list without elements leads to the join at once, without results; without a join it ends the branch as done.
    """

    list: Annotated[Path, "The path of the list: in the result, or after `ctx` in the inputs of the run."]
    most: Annotated[Positive, "The most elements of the list."]
    nodes: Annotated[tuple[NodeName, ...], NON_EMPTY, "The nodes that run one after the other for an element."]
    join: Annotated[NodeName | None, "The node that runs when all elements are done."] = None
    concurrency: Annotated[Positive | None, "How many elements are under way at the same time, if not all."] = None
    collect: Annotated[bool, "Whether the join sees elements that have failed, in place of an end as failed."] = False

    @property
    def elements(self) -> str:
        """The list in words: `each of parsed.files, at most 50`."""
        return f"each of {'.'.join(map(str, self.list))}, at most {self.most:,}"


@value(tag="named")
class Named:
    """Continue with the node that the answer names; counts only when there is such a node among these.

    `nodes` maps what an answer may say to the node it means.
    """

    nodes: Annotated[Mapping[str, NodeName], NON_EMPTY, "The node that each answer means."]


@value(tag="pick")
class Pick:
    """Continue with the node that the answer names; counts only when there is such a node among some of the plan.

    `choices` names the entry of the plan's `choices` that lists the possible answers and their nodes, once for all
    targets that share it.
    """

    choices: Annotated[ChoicesName, "The name in the plan of the possible choices of an answer."]


@value(tag="schedule")
class Schedule:
    """Run many nodes in a scope of their own, each as soon as the nodes that it needs have ended as done."""

    needs: Annotated[
        Mapping[NodeName, tuple[NodeName, ...]],
        NON_EMPTY,
        "The nodes, each with those that must have ended as done before it begins.",
    ]


@value(tag="stop")
class Stop:
    """End the branch; outside every scope, end the run."""

    outcome: Annotated[Outcome, "The end of the scope, or of the run."]


Target = Go | Fork | Chain | ForEach | Named | Pick | Schedule | Stop
Entry = NodeName | Schedule
"""The entry of a run: one node, or those of a schedule that need nothing."""


@value
class Edge:
    """One possible move: the outcome that allows it, the condition on the result, the target, and the wait.

    Of the edges of one outcome the first counts of which all terms hold.
    """

    on: Annotated[str, "The outcome."]
    target: Annotated[Target, "The target."]
    when: Annotated[tuple[Term, ...], "The condition on the result."] = ()
    wait: Annotated[Count, "How many milliseconds pass before the target begins."] = 0


Kind = Annotated[str, words("work", "verification", "closure", "actionable", "terminal", "blocking")]
Phase = Annotated[str, words("setup", "gate", "assert", "exit")]


@value
class Node:
    """One step or stage. `hooks` are Python callables, `package.module:function`, by the phase they take part in."""

    act: Annotated[Act, "The act."]
    gate: Annotated[Gate, "How what came of it becomes an outcome."]
    edges: Annotated[
        tuple[Edge, ...], "The moves from here; of those of one outcome the first counts whose terms all hold."
    ]
    kind: Annotated[Kind | None, "The kind of the node."] = None
    title: Annotated[str | None, "The name for people."] = None
    admission: Annotated[Admission | None, "The conditions of the context that stop it before it acts."] = None
    retry: Annotated[Retry | None, "How often it may act in one execution."] = None
    validation: Annotated[Validation | None, "The conditions before `closing` counts."] = None
    hooks: Annotated[Mapping[Phase, Call], "Python callables, by the phase that they take part in."] = NOTHING


def list_targets(target: Target) -> tuple[str, ...]:
    """Return the nodes that a target itself names, those of a choice once; those of a `Pick` are named by the plan."""
    if isinstance(target, Fork | ForEach) and target.join is not None:
        return (*target.nodes, target.join)
    return list_opened(target)


def list_opened(target: Target) -> tuple[str, ...]:
    """Return the same without the join: what the target itself begins, at once or one after the other."""
    match target:
        case Go():
            return (target.node,) if target.otherwise is None else (target.node, target.otherwise)
        case Fork() | Chain() | ForEach():
            return target.nodes
        case Named():
            return tuple(dict.fromkeys(target.nodes.values()))
        case Schedule():
            return tuple(target.needs)
        case Pick() | Stop():
            return ()


def list_begun(entry: Entry) -> tuple[str, ...]:
    """Return the nodes that an entry begins, at once or later."""
    return (entry,) if isinstance(entry, str) else list_targets(entry)
