"""Flows written in one line per node, asked through both implementations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graph.oracle import NetworkxGraph

from stagec.core.place import Place
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.graph import Graph, build
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Outcome, Schedule, Stop, Target

AT = Place("flow.json")
WORDS: dict[str, Target] = {"done": Stop(Outcome.DONE), "failed": Stop(Outcome.FAILED)}

Ask = Callable[..., Graph | NetworkxGraph]


def flow(*lines: str, entries: str = "a", exact: bool = True, schedule: str = "") -> Flow:
    """Return a flow of lines such as `a: b | c & d > e | f, g | done`.

    `&` is a fork, `,` a chain, `>` names its join. A schedule is written as `a, b < a, c < a b`, and is called so.
    """
    nodes = [_node(*line.split(":")) for line in lines]
    starts = {name: Entry(name, AT) for name in entries.split()}
    needs = dict(_needs(each) for each in schedule.split(",")) if schedule else {}
    schedules = {schedule: Schedule(needs)} if schedule else {}
    return Flow("flow", AT, starts, {node.id: node for node in nodes}, exact=exact, schedules=schedules)


def _needs(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, needed = text.partition("<")
    return name.strip(), tuple(needed.split())


def _node(head: str, targets: str) -> FlowNode:
    name = head.strip()
    edges = [
        WrittenEdge(name, Edge(str(at), _target(each.strip())), AT / name / at)
        for at, each in enumerate(targets.split("|") if targets.strip() else [])
    ]
    return FlowNode(name, AT / name, edges=tuple(edges))


def _target(text: str) -> Target:
    if text in WORDS:
        return WORDS[text]
    body, _, join = text.partition(">")
    names = tuple(each.strip() for each in body.replace("&", ",").split(",") if each.strip())
    if "," in body:
        return Chain(names)
    return Go(names[0]) if len(names) == 1 and not join else Fork(names, join.strip() or None)


@pytest.fixture(params=[build, NetworkxGraph], ids=["compact", "networkx"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return what makes a graph of lines."""
    return lambda *lines, **more: request.param(flow(*lines, **more))
