"""Changes of flows, their entries and inputs, and of what answers and values have to satisfy."""

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.kind import PlanPair, declare, declare_every, is_narrowed, is_undecided, text_in_change


@declare_every("flow {name} is gone, and its runs have no plan to continue with", flow="removed")
def chg101_flow_removed() -> None:
    """A flow is gone.

    ## Runs in flight
    A run in flight of this flow has no new plan.

    ## What to do
    A flow that was renamed is another flow: keep the old name until its runs have ended.
    """


@declare_every("entry {name} is gone, and runs that began with it name it", entry="removed")
def chg102_entry_removed() -> None:
    """An entry is gone with which runs in flight have begun.

    ## Runs in flight
    The state of a run names its entry, also when the run is far behind it. A run of processes opens its schedule again
    by this name.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """


@declare("input {name} is required, and runs in flight do not have it", input="added")
def chg106_required_input_added(change: PlanChange, pair: PlanPair) -> bool | str:
    """A new input is required.

    ## Runs in flight
    A run in flight was begun without this input, and a node that uses it cannot start.

    ## What to do
    Give the input a default. A run can continue with a value from `stagec resume --plan NEW --input NAME=VALUE`.
    """
    wanted = pair.new.inputs[change.name]
    return wanted.required and wanted.default is None


@declare("input {name} has become required, and runs in flight may not have it", input_required="changed")
def chg107_input_became_required(change: PlanChange, pair: PlanPair) -> bool | str:
    """An input has become required.

    ## Runs in flight
    A run in flight may have begun without this input.

    ## What to do
    Give the input a default. A run can continue with a value from `stagec resume --plan NEW --input NAME=VALUE`.
    """
    wanted, known = pair.new.inputs[change.name], pair.old.inputs[change.name]
    return wanted.required and wanted.default is None and known.default is None


@declare(
    "the schema of input {name} refuses what runs in flight may have been given",
    input_schema="added removed changed",
)
def chg108_input_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """The schema of an input refuses values that it accepted.

    ## Runs in flight
    A run in flight was begun with a value that the old schema accepts. stagec has found one that the new schema
    refuses.

    ## What to do
    Accept the old values as well, or add another input.
    """
    return is_narrowed(change, pair)


@declare(
    "it is not known whether the schema of input {name} accepts all that it accepted",
    input_schema="added removed changed",
)
def chg109_input_undecided(change: PlanChange, pair: PlanPair) -> bool | str:
    """It is not known whether the schema of an input accepts all that it accepted.

    ## Runs in flight
    stagec compares schemas keyword by keyword. It cannot show that the new schema accepts every old value, and has
    found none that it refuses. Unknown behaviour counts as breaking.

    ## What to do
    Look at the two schemas yourself, and accept the code with `--allow` if every old value is still accepted.
    """
    return is_undecided(change, pair)


@declare_every(
    "its description has changed",
    title="added removed changed",
    version="added removed changed",
    names="changed",
    node_title="added removed changed",
    node_kind="added removed changed",
    tool_description="added removed changed",
)
def chg201_described_otherwise() -> None:
    """A description has changed.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """


@declare_every("runs that name no entry begin with {after}", default_entry="added removed changed")
def chg202_default_entry_changed() -> None:
    """Another entry is the default.

    ## Runs in flight
    A run in flight has its entry. Runs that begin later are concerned.
    """


@declare_every("entry {name} begins elsewhere", entry="changed")
def chg203_entry_moved() -> None:
    """An entry begins with another node.

    ## Runs in flight
    A run in flight is past its entry. Runs that begin later are concerned.
    """


@declare_every("input {name} is gone", input="removed")
def chg205_input_removed() -> None:
    """An input is gone.

    ## Runs in flight
    What a run in flight was given stays in its state, and nothing uses it.
    """


@declare_every("input {name} has another default", input_default="added removed changed")
def chg206_input_default_changed() -> None:
    """An input has another default.

    ## Runs in flight
    A run in flight has the old value. Runs that begin later are concerned.
    """


@declare("input {name} must be given now, and runs in flight have it", input_required="changed")
def chg239_given_input_required(change: PlanChange, _pair: PlanPair) -> bool | str:
    """An input that every run in flight was given became required.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    return change.after is True


@declare_every("flow {name} is new", flow="added")
def chg301_flow_added() -> None:
    """A flow is new.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("entry {name} is new", entry="added")
def chg302_entry_added() -> None:
    """An entry is new.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare_every("input {name} may be given", input="added")
def chg303_optional_input_added() -> None:
    """A new input may be given, or has a default.

    ## Runs in flight
    A run in flight that continues with the new plan has the default.
    """


@declare_every("input {name} may be left out", input_required="changed")
def chg304_input_became_optional() -> None:
    """An input may be left out.

    ## Runs in flight
    Every run in flight continues as before.
    """


@declare("node {node} refuses answers that it accepted", schema="added removed changed")
def chg120_answer_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """The schema of answers refuses what it accepted.

    ## Runs in flight
    A request keeps its key and its schema until it is answered, so a run in flight gets answers that satisfy the old
    schema. stagec has found one that the new schema refuses. If it comes when the model has been asked for the last
    time, the run fails.

    ## What to do
    Accept the old answers as well, and narrow the schema when the runs in flight have ended.
    """
    return pair.is_reached(change.node) and is_narrowed(change, pair)


@declare("it is not known whether node {node} accepts all answers that it accepted", schema="added removed changed")
def chg121_answer_undecided(change: PlanChange, pair: PlanPair) -> bool | str:
    """It is not known whether the schema of answers accepts all that it accepted.

    ## Runs in flight
    stagec compares schemas keyword by keyword. It cannot show that the new schema accepts every old answer, and has
    found none that it refuses. Unknown behaviour counts as breaking.

    ## What to do
    Look at the two schemas yourself, and accept the code with `--allow` if every old answer is still accepted.
    """
    return pair.is_reached(change.node) and is_undecided(change, pair)


@declare(
    "node {node} refuses results that it accepted, and a run in flight may hold one for it",
    accepts="added removed changed",
)
def chg122_accepts_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """A node refuses results of others that it accepted.

    ## Runs in flight
    A run in flight may hold a result for this node, made before the change.

    ## What to do
    Accept the old results as well.
    """
    return pair.is_reached(change.node) and is_narrowed(change, pair)


@declare("it is not known whether node {node} accepts all results that it accepted", accepts="added removed changed")
def chg123_accepts_undecided(change: PlanChange, pair: PlanPair) -> bool | str:
    """It is not known whether a node accepts all results of others that it accepted.

    ## Runs in flight
    stagec cannot show that the new schema accepts every old result, and has found none that it refuses. What is not
    known is not promised, so this counts as breaking.

    ## What to do
    Look at the two schemas yourself, and accept the code with `--allow` if every old result is still accepted.
    """
    return pair.is_reached(change.node) and is_undecided(change, pair)


@declare("node {node} needs a value for {name}, which may be empty in a run in flight", needed="added")
def chg136_value_demanded(change: PlanChange, pair: PlanPair) -> bool | str:
    """A variable must not be empty any more.

    ## Runs in flight
    The input or the carried value of a run in flight may be empty. The node cannot start with it.

    ## What to do
    Keep the old version until the runs in flight have ended, or let them end under the old plan in their journals.
    """
    return change.name in getattr(pair.nodes_of(change.node)[0].act, "variables", {})


@declare_every("node {node} needs {name}, which a run in flight may have never kept", carried_record="changed")
def chg141_value_not_carried() -> None:
    """A node needs a value that runs in flight may have never kept.

    ## Runs in flight
    A run of the new plan always has this value when it comes to the node. A run in flight may have passed the place
    where it is kept, or may come to the node by a way that the new plan does not have.

    ## What to do
    Let the variable have a default, or not be required, until the runs in flight have ended.
    """


@declare_every("node {node} keeps {name} differently for others", handoff="added removed changed")
def chg222_handoff_changed() -> None:
    """A node keeps other values for others.

    ## Runs in flight
    CHG141 reports a node that misses a value.
    """


_ANY = "added removed changed"


@declare("a schema says the same in another form", schema=_ANY, accepts=_ANY, input_schema=_ANY, tool_schema=_ANY)
def chg238_schema_reworded(change: PlanChange, pair: PlanPair) -> bool | str:
    """A schema accepts the same in other words, or no run reaches its node.

    ## Runs in flight
    Runs in flight continue, and follow the new plan from then on.
    """
    old, new = (text_in_change(each) for each in (change.before, change.after))
    if pair.compare_schemas(old, new).holds is not True:
        return True  # what refuses values was told before, unless no run reaches the node
    return not pair.is_widened(old, new)


@declare_every(
    "a schema accepts more",
    schema="added removed changed",
    accepts="added removed changed",
    input_schema="added removed changed",
    tool_schema="added removed changed",
)
def chg305_schema_widened() -> None:
    """A schema accepts more than before.

    ## Runs in flight
    Every run in flight continues as before.
    """
