"""Changes of limits: executions, turns, attempts and transitions."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_lowered


@declare(
    "the limit of node executions is {after} and was {before}: a run in flight may be beyond it",
    executions="added changed",
)
def chg110_executions_lowered(change: PlanChange, pair: PlanPair) -> bool | str:
    """The limit of node executions is lower.

    ## Runs in flight
    A run in flight may have had more executions than the new limit allows, and ends at once. Where the old plan proves
    that no run has so many, the change is compatible.

    ## What to do
    Keep the limit until the runs in flight have ended.
    """
    facts = pair.old.facts
    proved = None if facts is None else facts.executions
    return is_lowered(change.before, change.after) and is_lowered(proved, change.after)


@declare("a run that reaches the limit of node executions fails now, and was done before", reached="changed")
def chg111_limit_fails(change: PlanChange, pair: PlanPair) -> bool | str:
    """A run that reaches the limit of node executions fails, where it was done before.

    ## Runs in flight
    A run in flight that would have ended as done at the limit ends as failed.

    ## What to do
    Keep the old end until the runs in flight have ended.
    """
    return change.after == "failed" and pair.old.limits.executions is not None


@declare(
    "the limit of turns of node {node} is {after} and was {before}: a conversation in flight may be beyond it",
    turns="changed",
)
def chg126_turns_lowered(change: PlanChange, pair: PlanPair) -> bool | str:
    """The limit of turns is lower.

    ## Runs in flight
    A conversation in flight may have had as many turns as the new limit allows. Its attempt ends without a result.

    ## What to do
    Keep the limit until the runs in flight have ended.
    """
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)


@declare(
    "the limit of attempts of node {node} is {after} and was {before}: an execution in flight may be beyond it",
    attempts="changed",
)
def chg127_attempts_lowered(change: PlanChange, pair: PlanPair) -> bool | str:
    """The limit of attempts is lower.

    ## Runs in flight
    An execution in flight may be in an attempt that the new limit does not allow, and gives up where it would have
    tried again.

    ## What to do
    Keep the limit until the runs in flight have ended.
    """
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)


@declare(
    "the validation of node {node} may fail {after} times in a row, and could {before} times",
    validation_attempts="changed",
)
def chg139_validation_attempts_lowered(change: PlanChange, pair: PlanPair) -> bool | str:
    """Fewer failures of a validation are allowed.

    ## Runs in flight
    The validation of a run in flight may have failed as often as the new limit allows. Its next failure ends the run.

    ## What to do
    Keep the limit until the runs in flight have ended.
    """
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)


@declare("a failed validation of node {node} ends the run, which continued before", validation_action="changed")
def chg140_validation_ends(change: PlanChange, pair: PlanPair) -> bool | str:
    """A failed validation ends the run, which continued before.

    ## Runs in flight
    Under the old plan, a run whose validation fails tries again or continues. Under the new plan it ends. Failures
    before the change count towards the attempts of the new plan.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    goes_on = change.before == "abort" or change.after == "skip"  # no more of it ends than before
    return pair.is_reached(change.node) and not goes_on


@declare(
    "{after} transitions are allowed, and {before} were: a run in flight may be beyond that",
    transitions="added changed",
    transitions_in_a_row="added changed",
)
def chg145_transitions_lowered(change: PlanChange, _pair: PlanPair) -> bool | str:
    """Fewer transitions are allowed.

    ## Runs in flight
    A run in flight may have had more transitions than the new limit allows, and ends at once.

    ## What to do
    Keep the limit until the runs in flight have ended.
    """
    return is_lowered(change.before, change.after)


@declare_every(
    "node {node} may repeat a different number of times in a row, and a run in flight may be beyond it",
    repeats="added changed",
)
def chg147_repeats_bounded() -> None:
    """The bounds of a node's repeats in a row have changed.

    ## Runs in flight
    A run in flight may have repeated the node more often than the new bounds allow. stagec does not compare the bounds
    one by one, so every change but their end counts as breaking.

    ## What to do
    Keep the bounds until the runs in flight have ended.
    """


@declare_every("a run that reaches the limit of node executions ends as {after}", reached="changed")
def chg207_limit_completes() -> None:
    """A run that reaches the limit of node executions ends differently.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} waits differently between attempts", backoff="added removed changed")
def chg230_backoff_changed() -> None:
    """A node waits differently between attempts.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare("the limit of node executions is {after}, and no run in flight can be beyond it", executions="added changed")
def chg234_executions_limited(change: PlanChange, _pair: PlanPair) -> bool | str:
    """The limit of node executions is lower, and no run of the old plan can be beyond it.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    return is_lowered(change.before, change.after)


@declare_every("the limit of node executions is {after}, and was {before}", executions="removed changed")
def chg306_executions_raised() -> None:
    """The limit of node executions is higher, or gone.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("the limit of turns of node {node} is {after}, and was {before}", turns="changed")
def chg313_turns_raised() -> None:
    """The limit of turns is higher.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every(
    "the limit of attempts of node {node} is {after}, and was {before}",
    attempts="changed",
    validation_attempts="changed",
)
def chg314_attempts_raised() -> None:
    """The limit of attempts is higher.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every(
    "{after} transitions are allowed, and {before} were",
    transitions="removed changed",
    transitions_in_a_row="removed changed",
)
def chg320_transitions_raised() -> None:
    """More transitions are allowed.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("node {node} may repeat as often as the limits allow", repeats="removed")
def chg322_repeats_unbounded() -> None:
    """Nothing but the limits of the run bounds how often a node repeats.

    ## Runs in flight
    Every run in flight continues as before.
    """
