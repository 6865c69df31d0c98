"""Random flows of steps: any graph of steps and ends, in which the answer of a step chooses one of its edges."""

from __future__ import annotations

import json
from random import Random

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Prompt, Text
from stagec.ir.plan.document import Contents, Limits, Names
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop, Target

Arcs = list[list[int | None]]
"""For each step where its edges lead: to a step by its number, or to an end."""


def make_plan(arcs: Arcs, limit: int | None = None) -> Plan:
    """Make a plan of steps that begins with the first; without a limit it has enough executions for everything."""
    contents = Contents()
    nodes: dict[str, Node] = {}
    for at, leads in enumerate(arcs):
        said = [f"way{number}" for number in range(len(leads))]
        schema = contents.add(json.dumps({"required": ["do"], "properties": {"do": {"enum": said}}}))
        edges = tuple(Edge(name, _make_target(to)) for name, to in zip(said, leads, strict=True))
        act = Prompt((Text(contents.add(f"Step {at}.")),), schema=schema)
        nodes[f"s{at}"] = Node(act, IntentGate(("do",), tuple(said)), edges)
    most = 10 * sum(map(len, arcs)) * len(arcs) if limit is None else limit
    plan = Plan(
        "random", Names("step", "intent"), {"": "s0"}, nodes, contents.texts, Limits(most), entry="", title="Random"
    )
    return replace(plan, facts=facts(plan))


def _make_target(to: int | None) -> Target:
    return Stop(Outcome.DONE) if to is None else Go(f"s{to}")


def make_tree(random: Random, size: int) -> Arcs:
    """Make a tree of steps in which each leaf leads to an end."""
    arcs: Arcs = [[] for _ in range(size)]
    for at in range(1, size):
        arcs[random.randrange(at)].append(at)
    return [each or [None] for each in arcs]


def make_graph(random: Random, size: int, more: int) -> Arcs:
    """Make a graph with cycles in which every step can be come to, and comes to an end."""
    arcs = make_tree(random, size)
    for _ in range(more):
        arcs[random.randrange(size)].append(random.choice([*range(size), None]))
    return arcs
