"""Conditions of edges read a value of the answer that the node does not keep any more, or takes from elsewhere.

## Runs in flight
A model that was asked before the change may answer as it was asked. The value that decides is then not where the new
plan looks for it, and the answer may lead nowhere.

## What to do
Keep the value until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("edges of node {node} read {name}, which it does not keep as it did", handoff="removed changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    read = ("handoff", change.name)
    edges = pair.nodes_of(change.node)[1].edges
    return pair.is_reached(change.node) and any(term.path[:2] == read for edge in edges for term in edge.when)
