"""Changes of stages: hooks, judges, outputs and outcomes."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_lowered
from stagec.change.comparison.nodes import leads_to_schedule, list_questions
from stagec.core.json import list_of
from stagec.ir.plan.gate import JudgeGate
from stagec.ir.plan.node import Schedule


@declare(
    "the judge asks the world other questions now, and a run in flight may wait for the answers to the old ones",
    judge="changed removed",
)
def chg112_judge_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """The judge asks the world other questions.

    ## Runs in flight
    A run in flight may have asked the world whether the work is done. Its answers belong to the questions of the old
    judge, one by one.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    asked = [list_questions(each) for each in (change.before, change.after)]
    judged = any(isinstance(pair.old.nodes[each].gate, JudgeGate) for each in pair.reached)
    return judged and asked[0] != asked[1] and bool(asked[0]) and bool(asked[1])


@declare(
    "other callables are called at {name} now, and a run in flight may wait for one of them",
    loop_hooks="changed removed",
)
def chg113_loop_hooks_changed(change: PlanChange, _pair: PlanPair) -> bool | str:
    """The callables at a slot of the message loop are other ones.

    ## Runs in flight
    A run in flight may wait for one of the callables. Its place is a number in the old list. Callables that are added
    behind all others of the old list are compatible.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    before, after = list_of(change.before), list_of(change.after)
    return after[: len(before)] != before


@declare("stage {node} is no longer retryable, and a run in flight may have begun it", retryable="changed")
def chg142_stage_not_retryable(change: PlanChange, _pair: PlanPair) -> bool | str:
    """A stage is no longer retryable.

    ## Runs in flight
    A run in flight that has begun this stage is blocked when it is resumed, until somebody consents that the stage
    runs again.

    ## What to do
    Resume with `--consent`, or keep the stage retryable until the runs in flight have ended.
    """
    return change.before is True


@declare(
    "output {name} of stage {node} is at {after} now, where others read it, but completed stages have not left it",
    output="added changed",
)
def chg143_output_changed(change: PlanChange, pair: PlanPair) -> bool | str:
    """An output that others read is elsewhere, or is new.

    ## Runs in flight
    A run in flight may have completed this stage. It keeps the published outputs of the stage, without this one.

    ## What to do
    Keep the old output as well until the runs in flight have ended.
    """
    return (change.node, change.after) in pair.read_outputs


@declare_every("the work is judged differently", judge="added removed changed")
def chg209_judge_adjusted() -> None:
    """The work is judged differently.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("callables are added at {name}", loop_hooks="added removed changed")
def chg210_loop_hooks_added() -> None:
    """Callables are added at a slot of the message loop.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every(
    "stage {node} reads or leaves something else",
    process_input="added removed changed",
    output="added removed changed",
    checkpoint="changed",
)
def chg233_stage_adjusted() -> None:
    """A stage reads or leaves something else.

    ## Runs in flight
    A read of another stage is an output of that stage; CHG143 tells where that is missing.
    """


@declare_every(
    "what is written about an issue, or the wait between phases, is another one",
    comment="added removed changed",
    closing="changed",
    pause="changed",
    labels="added removed changed",
    ordering_labels="changed",
)
def chg241_phase_adjusted() -> None:
    """The comments on an issue, or the wait between phases, have changed.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("the outcome of the agent of phase {node} is read differently", agent_outcomes="changed")
def chg242_outcomes_changed() -> None:
    """The outcome of an agent is read differently.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("stage {node} may run again", retryable="changed")
def chg318_stage_retryable() -> None:
    """A stage may run again.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare("entry {name} began a schedule and begins something else now", entry="changed")
def chg103_schedule_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """An entry no longer begins a schedule.

    ## Runs in flight
    A run in flight is inside the schedule. Its branches have no meaning outside of it.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
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
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """


@declare(
    "the schedule of entry {name} has changed at node {node}, and runs in flight are in the middle of it",
    scheduled_node="added",
    needs="changed",
)
def chg105_schedule_changed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A schedule of conversations has changed.

    ## Runs in flight
    Runs in flight have counted what each node still needs. Runs of processes count again when they are resumed; all
    others do not.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
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
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
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


@declare_every("runs have another deadline", run_deadline="added removed changed")
def chg250_run_deadline_changed() -> None:
    """A run has more time, or less, or no longer any limit.

    ## Runs in flight
    A run keeps the deadline with which it began.
    """


@declare_every("{after} nodes may run at the same time, and {before} before", parallel="changed")
def chg307_parallel_raised() -> None:
    """More nodes run at the same time.

    ## Runs in flight
    Every run in flight continues as before.
    """
