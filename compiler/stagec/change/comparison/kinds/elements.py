"""Changes of what runs for each element of a list."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_lowered
from stagec.change.comparison.nodes import may_lack_list


@declare(
    "an answer of node {node} on its way may lack the list for whose elements nodes run on {name}, or have too many",
    edge="added changed",
    elements_most="changed",
)
def chg149_list_unpromised(change: PlanChange, pair: PlanPair) -> bool | str:
    """Nodes run for the elements of a list that the old plan does not promise, or of which it allows more.

    ## Runs in flight
    A model that was asked before the change may answer without this list, or with more elements than may run. Then the
    run fails. Where the old schema requires the list and its `maxItems` is small enough, the change is compatible.

    ## What to do
    Change the schema first, and the edge when the runs in flight have ended.
    """
    return pair.is_reached(change.node) and may_lack_list(change, pair)


@declare(
    "the limit, or the end, of the elements on {name} of node {node} has changed: {after}, and {before} before",
    elements_most="changed",
    elements_together="added removed changed",
    elements_collect="changed",
)
def chg246_elements_adjusted(change: PlanChange, _pair: PlanPair) -> bool | str:
    """Fewer elements may run, another number runs at the same time, or another rule holds for elements that fail.

    ## Runs in flight
    Elements that run already end as they would have. A run that comes to the list later follows the new plan.
    """
    return change.topic != "elements-most" or is_lowered(change.before, change.after)


@declare_every("{after} elements may run on {name} of node {node}, and {before} before", elements_most="changed")
def chg323_elements_raised() -> None:
    """More elements of a list may run.

    ## Runs in flight
    Every run in flight continues as before.
    """
