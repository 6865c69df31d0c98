"""Added and removed nodes, and changes of their acts."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every


@declare("node {node} is gone, and a run in flight may be at it", node="removed")
def chg117_node_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A node at which runs in flight can be is gone.

    ## Runs in flight
    A run in flight may be at this node, or wait to begin it in a fork or a chain.

    ## What to do
    Keep the node, without a way to it if it is no longer needed, until the runs in flight have ended. A node that
    was renamed is another node.
    """
    return pair.is_reached(change.node)


@declare("node {node} does something else: {after} instead of {before}", act="changed")
def chg118_act_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """A node does something of another kind.

    ## Runs in flight
    A run in flight may have asked for what the old node does. The answer means nothing to the new one.

    ## What to do
    Add a node with another name for the new work.
    """
    return pair.is_reached(change.node)


@declare("the gate of node {node} is of another kind: {after} instead of {before}", gate="changed")
def chg119_gate_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """The gate of a node is of another kind.

    ## Runs in flight
    A run in flight may wait for an answer that only the old gate can read.

    ## What to do
    Add a node with another name.
    """
    return pair.is_reached(change.node)


@declare("node {node} is no longer validated, and a run in flight may wait for a validator", validation="removed")
def chg138_validation_removed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A node is no longer validated.

    ## Runs in flight
    A run in flight may wait for a validator. Its answer means nothing to the new plan, and the run would wait for
    ever.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    return pair.is_reached(change.node)


@declare("agent {after} works in phase {node}, and a run of agent {before} may be open", agent="changed")
def chg144_agent_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """Another agent works in a phase.

    ## Runs in flight
    A run of the old agent may be open inside a run in flight. Its plan is not that of the new agent.

    ## What to do
    Keep the agent until the runs in flight have ended, or add a phase for the new one.
    """
    return pair.is_reached(change.node)


@declare_every("node {node} is gone, and no run reaches it", node="removed")
def chg216_unreached_node_removed() -> None:
    """A node is gone that no run of the old plan can reach.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every(
    "a prompt has another text",
    prompt="added removed changed",
    builtin="added removed changed",
    system_prompt="added removed changed",
    retry_prompt="added removed changed",
)
def chg217_prompt_changed() -> None:
    """A prompt has another text.

    ## Runs in flight
    A request that was made keeps its prompt. Those that follow have the new one.
    """


@declare_every(
    "variable {name} gets its value from another source",
    variable="added removed changed",
    system_variable="added removed changed",
    needed="added removed",
)
def chg218_variable_changed() -> None:
    """A variable is new, is gone, or gets its value from another source.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every(
    "{after} is asked, and {before} before", model="added removed changed", permission="added removed changed"
)
def chg219_model_changed() -> None:
    """Another model is asked, or with another permission.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("the model of node {node} is asked with another {name}", policy="added removed changed")
def chg248_policy_changed() -> None:
    """A model is asked otherwise: with another temperature, limit of tokens, time limit or number of attempts.

    ## Runs in flight
    A request that is under way is completed as it was made. The next one is made as the new plan says.
    """


@declare_every("node {node} has another deadline", deadline="added removed changed")
def chg249_deadline_changed() -> None:
    """A stage has more time for its result, or less, or no longer any limit.

    ## Runs in flight
    A deadline that runs already passes when it would have. Executions that begin later have the new one.
    """


@declare_every("results of node {node} are judged differently", checks="added removed changed")
def chg221_checks_changed() -> None:
    """The checks of a result are other ones.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} is validated", validation="added")
def chg227_validation_added() -> None:
    """A node is validated.

    ## Runs in flight
    A run in flight whose answer has come is not validated. The next answer is.
    """


@declare_every(
    "node {node} is validated differently",
    validation_action="changed",
    conditions="changed",
    preflight="changed",
    every_outcome="changed",
)
def chg228_validation_adjusted() -> None:
    """A node is validated differently.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} is admitted differently", admission="added removed changed")
def chg229_admission_changed() -> None:
    """A node is admitted differently.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("another callable is called for {name} of node {node}", hook="added removed changed")
def chg231_hook_changed() -> None:
    """Another callable is called for a phase, or none.

    ## Runs in flight
    A callable that was asked before the change may still answer.
    """


@declare_every("node {node} runs another program, or has another time for it", program="changed", time_limit="changed")
def chg232_program_changed() -> None:
    """A node runs another program, or has another time for it.

    ## Runs in flight
    A program that was started keeps its words and its time.
    """


@declare(
    "node {node} is another one, and no run reaches it",
    act="changed",
    gate="changed",
    completion="changed",
    node_tool="removed",
    validation="removed",
    turns="changed",
    attempts="changed",
    validation_attempts="changed",
)
def chg236_unused_act_replaced(change: PlanChange, pair: PlanPair) -> bool | str:
    """A node is another one that no run of the old plan can reach.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    return not pair.is_reached(change.node)


@declare_every("validator {name} checks differently", validator="removed changed")
def chg240_validator_changed() -> None:
    """A validator checks differently, or is gone.

    ## Runs in flight
    CHG137 and CHG138 tell where a node has other validators.
    """


@declare_every("agent {after} works in phase {node}, which no run reaches", agent="changed")
def chg243_unused_agent_replaced() -> None:
    """Another agent works in a phase that no run of the old plan can reach.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("node {node} is new", node="added")
def chg310_node_added() -> None:
    """A node is new.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("validator {name} is new", validator="added")
def chg319_validator_added() -> None:
    """A validator is new.

    ## Runs in flight
    Every run in flight continues as before.
    """
