"""Changes of intents, edges, choices and their targets, and of the parts that run for each element of a list."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_lowered
from stagec.change.comparison.nodes import (
    falls_back,
    has_intent,
    is_covered,
    is_first,
    jumps,
    loses_fallback,
    may_lack_list,
)
from stagec.core.json import list_of
from stagec.ir.plan.gate import IntentGate


@declare("node {node} no longer knows the intent {name}, and an answer on its way may have it", intent="removed")
def chg128_intent_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """An intent is no longer allowed.

    ## Runs in flight
    A model that was asked before the change may answer with this intent. Without an allowed intent the run fails.

    ## What to do
    Keep the intent, with an edge, until the runs in flight have ended.
    """
    return pair.is_reached(change.node) and not falls_back(pair.nodes_of(change.node)[1].gate)


@declare("node {node} reads the intent at {after}, and an answer on its way has it at {before}", intent_field="changed")
def chg129_intent_elsewhere(change: PlanChange, pair: PlanPair) -> bool | str:
    """The intent is in another place of the answer.

    ## Runs in flight
    A model that was asked before the change answers as it was asked.

    ## What to do
    Add a node with another name.
    """
    gate = pair.nodes_of(change.node)[1].gate
    return pair.is_reached(change.node) and isinstance(gate, IntentGate)


@declare(
    "node {node} fails on an answer without an allowed intent, which had a fallback",
    fail_fast="changed",
    fallback="removed",
)
def chg130_intent_demanded(change: PlanChange, pair: PlanPair) -> bool | str:
    """An answer without an allowed intent fails the run, where it had a fallback.

    ## Runs in flight
    A model that was asked before the change may answer without an allowed intent.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    before, after = (each.gate for each in pair.nodes_of(change.node))
    return pair.is_reached(change.node) and falls_back(before) and not falls_back(after)


@declare(
    "node {node} reads the node to jump to at {after}, and an answer on its way names it at {before}",
    target_field="changed removed",
)
def chg131_jump_elsewhere(change: PlanChange, pair: PlanPair) -> bool | str:
    """The target of a jump is in another place of the answer.

    ## Runs in flight
    A model that was asked before the change answers as it was asked, and its jump leads nowhere.

    ## What to do
    Add a node with another name.
    """
    return pair.is_reached(change.node) and jumps(pair, change.node)


@declare("node {node} no longer has a certain edge on {name}", edge="removed")
def chg133_edge_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A way of an outcome is gone, and none certainly takes its place.

    ## Runs in flight
    A run in flight may stand at this node, and end it with this outcome under the conditions of the old edge. stagec
    finds no new edge that certainly takes it: one with the same outcome, without conditions that the old one had not.

    ## What to do
    Keep an edge for the outcome, for example one without conditions behind all others.
    """
    stands = pair.is_reached(change.node) and has_intent(change, pair)
    return stands and not is_covered(change, pair)


@declare("node {node} cannot jump on {name} to every node to which it could", edge="changed")
def chg134_jump_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A jump does not lead to every node to which it led.

    ## Runs in flight
    A model that was asked before the change may name a node that is not among the new ones.

    ## What to do
    Keep the names that answers may give.
    """
    return pair.is_reached(change.node) and not is_covered(change, pair)


@declare("when what follows node {node} on {name} cannot start, nothing runs instead", edge="changed")
def chg135_fallback_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """Nothing runs in the place of a node that cannot start.

    ## Runs in flight
    A run in flight that stands at this node may come to one that cannot start with what the run has. It fails, where
    another node ran before.

    ## What to do
    Keep the fallback until the runs in flight have ended.
    """
    return pair.is_reached(change.node) and loses_fallback(change, pair)


@declare(
    "node {node} has other validators, or another order of them, and a run in flight may wait for one of them",
    conditions="changed",
    preflight="changed",
)
def chg137_conditions_changed(change: PlanChange, pair: PlanPair) -> bool | str:
    """The validators of a node are other ones, or in another order.

    ## Runs in flight
    A run in flight may wait for a validator. Its place is a number in the old list. Validators that are added behind
    all others are compatible.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    before, after = list_of(change.before), list_of(change.after)
    return pair.is_reached(change.node) and after[: len(before)] != before


@declare_every("answers may no longer name {name}, and one on its way may do so", choice="removed")
def chg146_choice_removed() -> None:
    """An answer may not name a node any more that it could.

    ## Runs in flight
    A model that was asked before the change may name this node, and its jump leads nowhere.

    ## What to do
    Keep the name that answers may give until the runs in flight have ended.
    """


@declare(
    "edges of node {node} read {name}, which the node no longer keeps, or keeps from another path",
    handoff="removed changed",
)
def chg148_condition_without_value(change: PlanChange, pair: PlanPair) -> bool | str:
    """Conditions of edges read a value that the node no longer keeps, or keeps from another path of its answer.

    ## Runs in flight
    A model that was asked before the change answers in the old form. The conditions of the new plan do not find the
    value there, and possibly no edge takes the answer.

    ## What to do
    Keep the value until the runs in flight have ended, or let them end under the old plan, which their journals hold.
    """
    read = ("handoff", change.name)
    edges = pair.nodes_of(change.node)[1].edges
    return pair.is_reached(change.node) and any(term.path[:2] == read for edge in edges for term in edge.when)


@declare_every(
    "an answer of node {node} without an allowed intent counts as {after}",
    fallback="added removed changed",
    fail_fast="changed",
)
def chg223_fallback_changed() -> None:
    """Another intent is the fallback.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("another edge replaces the edge of node {node} on {name}", edge="removed")
def chg224_edge_replaced() -> None:
    """An edge is gone: its answers certainly take another one, or cannot occur any more.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} leads elsewhere on {name}", edge="changed")
def chg225_edge_redirected() -> None:
    """An edge leads elsewhere.

    ## Runs in flight
    A run in flight at the node takes the new edge. A run that has taken the old edge continues from there.
    """


@declare("node {node} leads elsewhere on {name} in some cases", edge="added", edge_order="changed")
def chg226_edge_put_first(change: PlanChange, pair: PlanPair) -> bool | str:
    """An edge is taken in the place of another one in some cases.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    return change.topic == "edge-order" or is_first(change, pair)


@declare_every("node {node} reads its answer differently", target_field="added removed changed", intent_field="changed")
def chg235_target_field_changed() -> None:
    """A field of the answer is in another place, and nothing in flight uses it.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} reads an answer with {name} as an answer without intent", intent="removed")
def chg237_intent_replaced() -> None:
    """An intent is no longer allowed, and an answer with it has a fallback.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("answers that name {name} mean node {after}", choice="changed")
def chg244_choice_redirected() -> None:
    """A name that answers may give means another node.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare("node {node} takes an answer with {name} as that, and as one without intent before", intent="added")
def chg245_intent_understood(change: PlanChange, pair: PlanPair) -> bool | str:
    """An intent is new, and an answer with it had a fallback.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    return pair.is_reached(change.node) and falls_back(pair.nodes_of(change.node)[0].gate)


@declare_every("node {node} waits another time on {name} before what follows", edge_wait="added removed changed")
def chg247_wait_changed() -> None:
    """The wait after an outcome has another length.

    ## Runs in flight
    A wait that has begun ends when it would have. A run that comes to the edge later follows the new plan.
    """


@declare_every("node {node} knows the intent {name}", intent="added")
def chg315_intent_added() -> None:
    """An intent is new.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("node {node} has an edge on {name}", edge="added")
def chg317_edge_added() -> None:
    """An edge is new, and no other is taken less often.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("answers may name {name}", choice="added")
def chg321_choice_added() -> None:
    """An answer may name one more node.

    ## Runs in flight
    Every run in flight continues as before.
    """


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
