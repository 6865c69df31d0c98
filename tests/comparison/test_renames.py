"""Nodes with another name are found where nothing else makes them unlike, and nowhere else."""

from __future__ import annotations

import playable

from stagec.change.comparison.change import find_renames
from stagec.core.value import replace
from stagec.ir.plan import Plan


def rename(plan: Plan, old: str, new: str, **changes: object) -> Plan:
    nodes = {new if name == old else name: node for name, node in plan.nodes.items()}
    return replace(plan, nodes={**nodes, new: replace(nodes[new], **changes)})


def test_a_node_that_does_the_same_under_another_name_is_renamed() -> None:
    plan = playable.steps()
    name = next(iter(plan.nodes))
    assert find_renames(plan, rename(plan, name, "other")) == {name: "other"}


def test_where_edges_lead_and_titles_do_not_count() -> None:
    plan = playable.steps()
    name = next(iter(plan.nodes))
    assert find_renames(plan, rename(plan, name, "other", edges=(), title="Other")) == {name: "other"}


def test_a_node_that_does_something_else_is_another_node() -> None:
    plan = playable.steps()
    name = next(iter(plan.nodes))
    assert find_renames(plan, rename(plan, name, "other", kind="closure")) == {}


def test_of_nodes_that_are_alike_none_is_renamed() -> None:
    plan = playable.steps()
    name = next(iter(plan.nodes))
    twice = replace(plan, nodes={**plan.nodes, "twin": plan.nodes[name]})
    gone = replace(plan, nodes={each: node for each, node in plan.nodes.items() if each != name})
    both = replace(plan, nodes={**gone.nodes, "one": plan.nodes[name], "two": plan.nodes[name]})
    assert find_renames(twice, rename(gone, next(iter(gone.nodes)), next(iter(gone.nodes)))) == {}
    assert find_renames(plan, both) == {}
