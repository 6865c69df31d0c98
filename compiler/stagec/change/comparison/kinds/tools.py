"""Changes of tools, servers and what may be called."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_digest, is_narrowed, is_undecided
from stagec.ir.plan.act import Converse, Prompt


@declare("tool {name} is gone, and a run in flight may be calling it", tool="removed")
def chg114_tool_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A tool is gone from the plan.

    ## Runs in flight
    A node of the old plan uses this tool. A run in flight may have asked for a call of it that nobody has answered.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    acts = [pair.old.nodes[each].act for each in pair.reached]
    return any(change.name in (each.tools or ()) for each in acts if isinstance(each, Prompt | Converse))


@declare("tool {name} refuses arguments that it accepted", tool_schema="added removed changed")
def chg115_tool_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A tool refuses arguments that it accepted.

    ## Runs in flight
    A model may have seen the old schema, and a call that it asked for may still wait.

    ## What to do
    Accept the old arguments as well, or add another tool.
    """
    return not is_digest(change, pair) and is_narrowed(change, pair)


@declare(
    "it is not known whether tool {name} accepts all arguments that it accepted", tool_schema="added removed changed"
)
def chg116_tool_undecided(change: PlanChange, pair: PlanPair) -> bool | str:
    """It is not known whether a tool accepts all arguments that it accepted.

    ## Runs in flight
    The plan has only the digest of a schema, or stagec cannot compare the two schemas. Unknown behaviour counts as
    breaking.

    ## What to do
    Look at the two schemas yourself, and accept the code with `--allow` if every old call is still accepted.
    """
    return is_digest(change, pair) or is_undecided(change, pair)


@declare("tool {name} is taken away from node {node}, and a run in flight may be calling it", node_tool="removed")
def chg124_tool_taken_away(change: PlanChange, pair: PlanPair) -> bool | str:
    """A tool is taken away from a node.

    ## Runs in flight
    A model that was asked before the change knows the tool and may call it. The node does not allow the call any more.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    return pair.is_reached(change.node)


@declare(
    "node {node} takes its result by {after}, and a model that was asked before hands it in by {before}",
    completion="changed",
)
def chg125_completion_renamed(change: PlanChange, pair: PlanPair) -> bool | str:
    """The completion tool of a node has another name.

    ## Runs in flight
    A model that was asked before the change hands its result in by the old name. The node takes that for a call of an
    unknown tool, and the result is lost.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    return pair.is_reached(change.node)


@declare_every("tool {name} is gone, and nothing in flight uses it", tool="removed")
def chg211_unused_tool_removed() -> None:
    """A tool is gone that no reachable node uses.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("calls of tool {name} are declared as {after}, and as {before} before", tool_effects="changed")
def chg212_tool_effects_changed() -> None:
    """A tool may do more, or less.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("tool {name} comes from elsewhere", tool_source="changed")
def chg213_tool_moved() -> None:
    """A tool comes from elsewhere.

    ## Runs in flight
    The server that has the tool at the time of a call carries it out.
    """


@declare_every("server {name} is {after}", server="added removed changed")
def chg214_server_changed() -> None:
    """A server of tools has changed.

    ## Runs in flight
    The changes of its tools say what it means for runs in flight.
    """


@declare_every("the security mode is {after}, and was {before}", mode="added removed changed")
def chg215_mode_changed() -> None:
    """The security mode is another one.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("the tools of node {node} are chosen differently", tool_choice="added removed changed")
def chg220_tool_choice_changed() -> None:
    """The runner of the plan chooses the tools, or no longer does.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("tool {name} is new", tool="added", node_tool="added")
def chg308_tool_added() -> None:
    """A tool is new.

    ## Runs in flight
    Every run in flight continues as before.
    """
