"""Changes of parallel branches and of their dependencies."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import declare, declare_every
from stagec.change.comparison.nodes import leads_to_schedule
from stagec.change.comparison.pair import PlanPair, is_lowered
from stagec.ir.plan.node import Schedule


@declare("entry {name} began a schedule and begins something else now", entry="changed")
def chg103_schedule_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """An entry no longer begins a schedule.

    ## Runs in flight
    A run in flight is inside the schedule. Its branches have no meaning outside of it.

    ## What to do
    Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals
    hold.
    """
    return isinstance(pair.old.entries[change.name], Schedule)


@declare_every(
    "node {node} is no longer in the schedule of entry {name}, where a run in flight may be at it",
    scheduled_node="removed",
)
def chg104_scheduled_node_removed() -> None:
    """A node is gone from a schedule.

    ## Runs in flight
    A run in flight may be at this node, or may have results of it that others need.

    ## What to do
    Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals
    hold.
    """


@declare(
    "the schedule of entry {name} is another one now at node {node}, and runs in flight are in the middle of it",
    scheduled_node="added",
    needs="changed",
)
def chg105_schedule_changed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A schedule of conversations has changed.

    ## Runs in flight
    Runs in flight have counted what each node still needs. Runs of processes count again when they are resumed; all
    others do not.

    ## What to do
    Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals
    hold.
    """
    return not pair.runs_processes(change.name)


@declare(
    "the edge of node {node} on {name} opened a schedule, and a run in flight may be in it", edge="changed removed"
)
def chg132_schedule_edge_changed(change: PlanChange, pair: PlanPair) -> bool | str:
    """An edge no longer opens the schedule that it opened.

    ## Runs in flight
    A run in flight may be inside the schedule. Its branches have no meaning outside of it.

    ## What to do
    Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals
    hold.
    """
    return pair.is_reached(change.node) and leads_to_schedule(change, pair)


@declare_every("the stages of entry {name} are in another order at {node}", scheduled_node="added", needs="changed")
def chg204_stages_rescheduled() -> None:
    """Stages of a schedule are new, or need other stages.

    ## Runs in flight
    A run of processes counts what each stage needs again when it is resumed, from what has been published.
    """


@declare("{after} nodes may run at the same time, and {before} before", parallel="changed")
def chg208_parallel_lowered(change: PlanChange, _pair: PlanPair) -> bool | str:
    """Fewer nodes run at the same time.

    ## Runs in flight
    Running nodes continue. The next node begins when there is room.
    """
    return is_lowered(change.before, change.after)


@declare_every("{after} nodes may run at the same time, and {before} before", parallel="changed")
def chg307_parallel_raised() -> None:
    """More nodes run at the same time.

    ## Runs in flight
    Every run in flight continues as before.
    """
