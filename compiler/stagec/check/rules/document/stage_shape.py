"""The shape of stage definitions and pipelines."""

from collections.abc import Iterator

from stagec.check.rules.document import misshapen, rule, shape_rule
from stagec.core.rule import Finding
from stagec.core.value import replace
from stagec.sources.tree import Fault, Tree

_OWN = frozenset({"id", "allowedTools", "completionTool", "completionSchema", "turnCap", "resolutionPolicy"})
"""The members by which a stage is known."""


@rule(since="0.1", origin=("stage-definitions:field-missing",))
def stg170_incomplete_stage(tree: Tree) -> Iterator[Finding]:
    """A stage definition lacks members that every stage has.

    ## Why this matters
    Eight members are required in the frontmatter of a stage: `id`, `name`, `allowedTools`, `completionTool`,
    `completionSchema`, `retryPolicy`, `turnCap` and `resolutionPolicy`. A stage without one of them fails before its
    first turn. A stage written as a JSON object requires `id`, `body`, `turnCap`, `completionTool` and
    `completionSchema`.

    ## How to fix
    Add the members. If a member nearby is named as the likely misspelling, correct its name. An agent file of another
    program, with `name`, `description` and `tools`, is made into a stage definition by `stagec init --from FILE`;
    decisions for its author are marked in the result.
    """
    for fault, finding in zip(tree.about("incomplete-stage"), misshapen(tree, "incomplete-stage"), strict=True):
        yield replace(finding, message=f"{finding.message}{_suggest_init(fault)}")


def _suggest_init(fault: Fault) -> str:
    missing = fault.facts["missing"]
    is_foreign = isinstance(missing, tuple) and _OWN.issubset(missing)
    after = " " if fault.facts["misspelt"] else "; "
    return f"{after}'stagec init --from' makes a stage of an agent file" if is_foreign else ""


@shape_rule(
    since="0.1",
    origin=(
        "stage-definitions:allowed-tools-type",
        "stage-definitions:turn-cap-type",
        "stage-definitions:completion-schema-root",
    ),
)
def stg171_mistyped_stage_member() -> None:
    """A member of a stage definition has a value of the wrong type.

    ## Why this matters
    A member of the wrong type is not read, so the stage would run without its tools, its schema or its limit. YAML
    decides types by how a value looks: `name: 5` is a number, and a tool list without brackets or dashes is a text.

    ## How to fix
    Write a value of the type that the message names. Quote a text that looks like a number.
    """


@shape_rule(
    since="0.1",
    origin=(
        "stage-definitions:id-type",
        "stage-definitions:completion-tool-type",
        "stage-definitions:allowed-tools-duplicate",
    ),
)
def stg172_empty_stage_member() -> None:
    """A required member of a stage definition is empty.

    ## Why this matters
    An empty id cannot be named by a pipeline, and an empty tool name is not a tool's. An empty list of tools is
    something else: it says that the stage may call none.

    ## How to fix
    Write the text, or remove it where it is one of a list.
    """


@shape_rule(since="0.1", origin=("Validation/StageTurnCapTooLow", "stage-definitions:turn-cap-too-low"))
def stg173_low_turn_cap() -> None:
    """A stage may not take a single turn.

    ## Why this matters
    `turnCap` is the most turns that the model may take in one attempt. With less than one the attempt ends before it
    begins, and no result is ever handed in.

    ## How to fix
    Write a whole number of at least 1. It is a safety net: choose it well above what the stage needs.
    """


@shape_rule(since="0.1", origin=("stage-definitions:retry-policy-shape", "stage-definitions:retry-policy-backoff"))
def stg174_malformed_retry_policy() -> None:
    """The retry policy of a stage is not written as one.

    ## Why this matters
    `maxAttempts` says how often the work may be tried, the first attempt included, and `backoff` how long to wait in
    between. Without both it cannot be told when to give up.

    ## How to fix
    Write both, such as `{maxAttempts: 2, backoff: none}`. The number is whole and at least 1.
    """


@rule(since="0.1", origin=("rulings:pipelines", "stage-definitions:execution-enum"))
def stg175_malformed_routing(tree: Tree) -> Iterator[Finding]:
    """The successors of a stage are malformed.

    ## Why this matters
    `next` holds the id of a stage, a route with `stages`, or a list of cases, each a route with a `when`. From
    anything else it cannot be told where the run goes on.

    ## How to fix
    Write one of the three:

    ```yaml
    next:
      plan: execute
      execute: {stages: [test, lint], execution: parallel, join: review}
      review:
        - {when: {parsed.approved: true}, stages: []}
        - {stages: [execute]}
    ```

    A route has exactly one of `stages`, its other name `nextStages`, and `terminate: true`, which is the same as
    `stages: []`. A stage that is to end the run needs no entry.
    """
    for fault, finding in zip(tree.about("malformed-routing"), misshapen(tree, "malformed-routing"), strict=True):
        yield replace(finding, message=f"{finding.message}{_suggest_routing(fault)}")


def _suggest_routing(fault: Fault) -> str:
    last = fault.at.pointer[-1] if fault.at.pointer else ""
    if fault.reason == "type" and last == "wait":
        return ", such as '10m'"
    if fault.reason == "type" and isinstance(last, int) and fault.facts["allowed"] == ("object",):
        return "; a list holds cases, such as '{stages: [review]}'"
    return "; a stage without 'next' ends the run" if fault.reason == "minItems" else ""


@shape_rule(since="0.1", origin=("stage-definitions:execution-enum",))
def stg176_unknown_execution() -> None:
    """A route runs its stages in a way that does not exist.

    ## Why this matters
    Several stages run one after the other, or all together. Any other word leaves open which is meant.

    ## How to fix
    Write `sequential` or `parallel`; `terminate` ends the run and stands beside no stages.
    """


@shape_rule(since="0.1", origin=("stage-definitions:entry-unknown", "stage-definitions:sm-config", "rulings:pipelines"))
def stg177_incomplete_pipeline() -> None:
    """A pipeline does not say once and clearly where runs begin.

    ## Why this matters
    `entry` names the stage where every run begins. Without it nothing of the pipeline can be run, and with its other
    name `entryStage` beside it there are two answers. The same holds for the `entry` of a configuration.

    ## How to fix
    Write `entry` with the id of the first stage. Keep one of the two names.
    """


_NONE_BESIDE = (
    "this pipeline lists no stages, and there is no stage definition beside it; "
    "list those of a folder, such as 'stages: [\"stages/*.md\"]'"
)


@rule(since="0.1", origin=("stage-definitions:stages-empty", "Validation/StageDefinitionInvalid"))
def stg178_empty_pipeline(tree: Tree) -> Iterator[Finding]:
    """A pipeline has no stages.

    ## Why this matters
    There is nothing to run. A pipeline without `stages` takes the stage definitions that lie beside it; an empty list
    says that there are none.

    ## How to fix
    List the files of the stages, such as `stages: ["stages/*.md"]`, or the stages themselves; or remove the empty
    list.
    """
    for fault in tree.about("empty-pipeline"):
        if fault.reason == "none-beside":
            yield Finding(fault.at, _NONE_BESIDE)
        else:
            yield Finding(fault.at, "'stages' is empty")


@shape_rule(since="0.1", origin=("stage-definitions:sm-config", "rulings:pipelines"))
def stg179_mistyped_pipeline_member() -> None:
    """A member of a pipeline has a value of the wrong type.

    ## Why this matters
    What has the wrong type is not read. The pipeline would run without its routes, its limits or its context.

    ## How to fix
    Write a value of the type that the message names. A version is quoted, since YAML takes `1.0` for a number.
    """


@rule(since="0.1", origin=("rulings:pipelines",))
def stg180_malformed_condition(tree: Tree) -> Iterator[Finding]:
    """A condition is not written as one.

    ## Why this matters
    `when` maps paths to the values that may stand there: a value, a list of values of which any will do, or `{present:
    true}` and `{present: false}`. There are no comparisons and no expressions; another key would never be read.

    ## How to fix
    Write a path and its values, such as `parsed.severity: [high, critical]`. A more complex decision belongs in the
    stage: its result can name the decision.
    """
    for fault, finding in zip(tree.about("malformed-condition"), misshapen(tree, "malformed-condition"), strict=True):
        is_text = fault.at.pointer[-1:] == ("when",) and fault.facts.get("kind") == "string"
        advice = "; write it like '{parsed.approved: true}'" if is_text else ""
        yield replace(finding, message=f"{finding.message}{advice}")


@shape_rule(since="0.1", origin=("rulings:pipelines",))
def stg181_malformed_check() -> None:
    """A check of a stage's work is not written as one.

    ## Why this matters
    The first check whose `when` matches decides about the result: `retry` or `fail`. Without a verdict it decides
    nothing, and a result that no check catches is accepted without one saying so.

    ## How to fix
    Write a list of checks, each with a `verdict` of `retry` or `fail`.
    """


@shape_rule(since="0.1", origin=("rulings:pipelines",))
def stg182_malformed_gate() -> None:
    """The gate of a stage is not written as one.

    ## Why this matters
    A gate says under which conditions on the context a stage is put off (`defer`) or not run (`block`). Written
    otherwise it holds nothing back.

    ## How to fix
    Write `defer`, `block` or both, each with conditions.
    """


@shape_rule(since="0.1", origin=("rulings:pipelines",))
def stg183_malformed_hook() -> None:
    """A hook does not name a Python callable in its place.

    ## Why this matters
    Hooks take a phase of a stage over, or stand at a stage of the message loop. A name in another form than
    `package.module:function` cannot be looked up, and the phase would run without the callable.

    ## How to fix
    Write the module, a colon and the function. A hook of the message loop also says its `stage`, `when` and `kind`.
    """


@shape_rule(since="0.1", origin=("stage-definitions:unknown-key",))
def stg184_unknown_stage_member() -> None:
    """A stage object has a member that the format does not know.

    ## Why this matters
    Programs that read stage objects refuse the whole stage over it. In Markdown such a member would be metadata.

    ## How to fix
    Correct the name or remove the member. Members that only stagec knows, such as checks, gates and hooks, belong in
    the pipeline.
    """


@shape_rule(since="0.1", origin=("rulings:pipelines",))
def stg189_malformed_policy() -> None:
    """The policy of a stage is not written as one.

    ## Why this matters
    A policy says which model the stage asks, and how: `model`, `temperature`, `maxOutputTokens`, `requestTimeout` in
    seconds and `requestAttempts`. A provider refuses a request with a value that no model takes, and without time or
    attempts nothing is asked at all.

    ## How to fix
    Write a `temperature` from 0 to 2, whole numbers of at least 1, and a `requestTimeout` above 0 and of at most a day,
    such as `{temperature: 0.2, maxOutputTokens: 2000, requestTimeout: 90, requestAttempts: 3}`.
    """


@shape_rule(since="0.1", origin=("stage-definitions:sm-state-slot",))
def stg185_missing_state_slot() -> None:
    """A state machine has no state slot.

    ## Why this matters
    Every state machine declares what it keeps between turns, its name and schema; a host refuses one that does not.

    ## How to fix
    Write `stateSlot` with `slotVersion` and `schema`. A file that is a pipeline and no manifest of a state machine
    needs neither `stateSlot` nor `kind`.
    """


@shape_rule(since="0.1", origin=("stage-definitions:sm-config", "Validation/ConfigSchemaViolation"))
def stg186_unfit_configuration() -> None:
    """The configuration of a state machine does not fit its schema.

    ## Why this matters
    A program that hosts the machine checks the configuration before anything runs, and refuses one that does not fit.
    A machine can give a schema under `configSchema`. Without one, a configuration has an `entry`, may have `enabled`
    and `autoAttach`, and has nothing else.

    ## How to fix
    Write what the message asks for. The configuration of `machine.json` lies in `machine.config.json`, or in the
    machine under `config`.
    """
