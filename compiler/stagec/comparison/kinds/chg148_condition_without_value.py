"""Conditions of edges read a value that the node no longer keeps, or keeps from another path of its answer.

## Runs in flight
A model that was asked before the change answers in the old form. The conditions of the new plan do not find the value
there, and possibly no edge takes the answer.

## What to do
Keep the value until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "edges of node {node} read {name}, which the node no longer keeps, or keeps from another path",
    handoff="removed changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    read = ("handoff", change.name)
    edges = pair.nodes_of(change.node)[1].edges
    return pair.is_reached(change.node) and any(term.path[:2] == read for edge in edges for term in edge.when)
