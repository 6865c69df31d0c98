"""The shape of a step registry: steps, gates, transitions and validators."""

from stagec.check.rules.document import shape_rule
from stagec.core.diagnostic import Severity


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.required-top",
        "steps-registry:step.steps-object",
        "steps-registry:boot.required-fields",
    ),
)
def stg130_incomplete_registry() -> None:
    """A step registry lacks one of the members that every registry has.

    ## Why this matters
    `agentId` and `version` say whose registry it is, `c1` is the first part of every prompt's path, and `steps` is the
    flow itself. Without any of them nothing can be run.

    ## How to fix
    Add the members. Nearly every registry has `"c1": "steps"`.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:reg.type-top", "steps-registry:reg.entry-mapping-type", "steps-registry:step.steps-object"),
)
def stg131_mistyped_registry_member() -> None:
    """A member at the top of a step registry has a value of the wrong type.

    ## Why this matters
    The steps, validators and failure patterns are looked up by name; in a list they have none. Texts of the wrong type
    never match the texts they are compared with.

    ## How to fix
    Write an object where things are looked up by name, and a string everywhere else.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.version-semver",
        "steps-registry:agent.version",
        "steps-registry:step.version-nonempty",
        "rulings:T6",
    ),
)
def stg132_malformed_version() -> None:
    """A version is not a semantic version.

    ## Why this matters
    Programs compare versions number by number to decide whether they can read a file. Semantic Versioning 2.0.0 says
    which texts are versions: `01.0.0` is none.

    ## How to fix
    Write three numbers without leading zeros and with dots between them, such as `1.0.0`. A suffix such as `-beta.1`
    or `+build.7` may follow.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.step-required",
        "steps-registry:step.c2-nonempty",
        "steps-registry:step.c3-nonempty",
        "steps-registry:prompt.c2",
        "steps-registry:prompt.c3",
        "climpt-1.14:step.name-nonempty",
    ),
)
def stg133_incomplete_step() -> None:
    """A step lacks its id, or a coordinate of its prompt.

    ## Why this matters
    `stepId` is how transitions name the step; `c2` and `c3` lead to its prompt. A step without them cannot be reached
    or cannot be run. In the format of climpt 1.14 a step also needs `name`, `kind` and `address`, and an address needs
    `c1`, `c2`, `c3` and `edition`: nothing is inferred.

    ## How to fix
    Add the members. The id is the same as the step's key.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:reg.step-types", "steps-registry:step.uv-array", "steps-registry:step.stdin-bool"),
)
def stg134_mistyped_step_member() -> None:
    """A member of a step has a value of the wrong type, or has none although its type is required.

    ## Why this matters
    A member of the wrong type is not read, so the step runs without it: without its variables, its input, or its
    transitions.

    In the format of climpt 1.14 `uvVariables` and `usesStdin` are required: 1.13 took an empty list and `false` where
    they were missing, 1.14 does not load the registry.

    ## How to fix
    Write a value of the named type: `[]` if a prompt needs no variables, `false` if it takes no standard input.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.step-type-enum", "steps-registry:reg.step-types"))
def stg135_unknown_step_type() -> None:
    """A step has a type that does not exist.

    ## Why this matters
    There is one type of step, `prompt`. A step of any other is refused before the run begins.

    ## How to fix
    Write `prompt`, or leave the member out.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.stepkind-enum", "steps-registry:reg.step-types"))
def stg136_unknown_step_kind() -> None:
    """A step has a kind that does not exist.

    ## Why this matters
    The kind decides which intents a step may answer. A step of an unknown kind may answer none, and some runners stop
    with an internal error.

    ## How to fix
    Write `work`, `verification` or `closure`, or leave the member out: then the kind follows from `c2`.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.model-enum", "steps-registry:reg.step-types"))
def stg137_unknown_model() -> None:
    """A step or an agent asks for a model that does not exist.

    ## Why this matters
    Models are named by their family; a run with any other name cannot be started or answers with another model than
    meant.

    ## How to fix
    Write `sonnet`, `opus` or `haiku`.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.schemaref-shape", "steps-registry:gate.schema-load"))
def stg138_malformed_schema_reference() -> None:
    """A reference to an output schema does not name a file and a schema in it.

    ## Why this matters
    The output schema tells the model what to answer. Without both names it cannot be found, and the step's answer has
    no shape.

    ## How to fix
    Write an object with `file`, relative to the schemas folder, and `schema`, the name within the file.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:reg.gate-required", "steps-registry:gate.ref-missing", "steps-registry:gate.field-missing"),
)
def stg139_incomplete_gate() -> None:
    """A gate lacks a member that it needs to read the intent of an answer.

    ## Why this matters
    `intentField` is the place of the intent in an answer, `intentSchemaRef` the place of its values in the schema, and
    `allowedIntents` lists the valid ones. Without one of them no answer can be routed (SR-VALID-002).

    ## How to fix
    Add the members that the message names.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.gate-failfast-type",
        "steps-registry:gate.ref-missing",
        "steps-registry:gate.field-missing",
    ),
)
def stg140_mistyped_gate_member() -> None:
    """A member of a gate has a value of the wrong type.

    ## Why this matters
    A gate that is misread routes wrongly: a text in place of a truth value counts as true, and a single text in place
    of a list hands on its letters.

    ## How to fix
    Write a value of the type that the message names.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.gate-intent-enum",
        "steps-registry:step.kind-intents",
        "steps-registry:step.kind-fallback-intent",
    ),
)
def stg141_unknown_intent() -> None:
    """A gate names an intent that does not exist.

    ## Why this matters
    There are seven intents: `next`, `repeat`, `jump`, `handoff`, `closing`, `escalate` and `abort`. Words such as
    `continue` are understood in answers, never in a registry.

    ## How to fix
    Write the intent that the word stands for: `continue` and `pass` are `next`, `retry`, `wait` and `fail` are
    `repeat`, `done` and `finished` are `closing`.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.gate-ref-pattern",
        "steps-registry:gate.ref-internal",
        "steps-registry:gate.ref-missing",
    ),
)
def stg142_external_intent_pointer() -> None:
    """A gate looks for its intents outside the step's own schema.

    ## Why this matters
    The pointer is followed inside the output schema of the step. One that begins with a file name, or without `#/`,
    leads nowhere.

    ## How to fix
    Write a pointer that begins with `#/`. Share definitions through `$ref` inside the schema.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.gate-targetmode-enum", "steps-registry:reg.gate-failfast-type"))
def stg143_unknown_target_mode() -> None:
    """A gate has a target mode that does not exist.

    ## Why this matters
    The mode says what decides where an intent leads: the transitions, the answer, or a condition. With an unknown mode
    nothing decides.

    ## How to fix
    Write `explicit`, `dynamic` or `conditional`, or leave the member out: then it is `explicit`.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:reg.transition-shape", "steps-registry:beyond.conditional-domain", "rulings:R9"),
)
def stg144_malformed_transition() -> None:
    """A transition is neither simple nor conditional.

    ## Why this matters
    A transition leads to one `target`, or it lets a `condition` choose among `targets`. With parts of both, or of
    neither, it cannot be told where the intent leads.

    ## How to fix
    Keep `target`, with `fallback` if wanted, or keep both `condition` and `targets`.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.failurepattern-required",))
def stg145_malformed_failure_pattern() -> None:
    """A failure pattern lacks the path to its retry prompt, or has a path of the wrong type.

    ## Why this matters
    When a validator fails, its failure pattern chooses the prompt with which the work is retried. Without an edition
    there is no prompt to retry with.

    ## How to fix
    Give the pattern a `description` and an `edition`; `params` is a list of names.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.validator-required",
        "steps-registry:reg.validator-type-enum",
        "steps-registry:valid.command-missing",
        "steps-registry:valid.unknown-type",
        "climpt-1.14:valid.phase-enum",
    ),
)
def stg146_malformed_validator() -> None:
    """A validator lacks a member that it needs, or has an unknown type.

    ## Why this matters
    A validator is a command with a condition for its success and a failure pattern for everything else. Without one of
    them the work cannot be judged, and closing it proves nothing. In the format of climpt 1.14 `phase` says when the
    command is run: `preflight` or `postllm`.

    ## How to fix
    Give the validator `type`, which is `command`, `command`, `successWhen` and `failurePattern`.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:reg.validation-step-required",
        "steps-registry:reg.condition-validator-required",
        "climpt-1.14:valid.slot-array",
        "climpt-1.14:valid.address",
    ),
)
def stg147_malformed_validation_step() -> None:
    """A validation step lacks a member, or one of its conditions names no validator.

    ## Why this matters
    The validation step guards the closure of a flow. Names that are missing in it are not checked, and its retry
    prompts are not found without `c2` and `c3`. In the format of climpt 1.14 these may be in an `address`, and both
    lists of conditions, `preflightConditions` and `postLLMConditions`, are required; they may be empty.

    ## How to fix
    Add the members that the message names; every condition has a `validator`.
    """


@shape_rule(since="0.1", origin=("steps-registry:reg.onfailure-action", "steps-registry:reg.onfailure-maxattempts"))
def stg148_malformed_failure_action() -> None:
    """The action after a failed validation is missing or impossible.

    ## Why this matters
    `action` is `retry`, `abort` or `skip` (without `abort` in the format of climpt 1.14), and `maxAttempts` bounds the
    failures. Without a known action, or with a bound below one, the run neither goes on nor ends as meant.

    ## How to fix
    Write one of the actions, and a whole number of at least 1.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:step.name-nonempty", "steps-registry:reg.step-required", "SR-VALID-004"),
    severity=Severity.NOTE,
)
def stg149_unnamed_step() -> None:
    """A step has no name for people.

    ## Why this matters
    Drawings, handbooks and logs show the name. Without one they show the id, which is legal and less helpful.

    ## How to fix
    Give the step a `name` of a few words.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:step.agentid-nonempty",
        "steps-registry:step.c1-nonempty",
    ),
)
def stg150_empty_registry_name() -> None:
    """The agent, the version or the first coordinate of a registry is empty.

    ## Why this matters
    An empty agent id or `c1` becomes an empty part of a path, so prompts are looked for in the wrong folder; an empty
    version cannot be compared (SR-VALID-004).

    ## How to fix
    Write the agent's id, a version such as `1.0.0`, and the folder of the prompts, mostly `steps`.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:step.c2-nonempty",
        "steps-registry:step.edition-nonempty",
        "climpt-1.14:step.adaptation-nonempty",
    ),
)
def stg151_empty_step_coordinate() -> None:
    """A coordinate of a step's prompt is empty.

    ## Why this matters
    `c2`, `c3` and `edition` are parts of the path of the step's prompt. An empty one leads to another file or to none
    (SR-VALID-004).

    ## How to fix
    Write the coordinate. `edition` may be left out in 1.13: then it is `default`. An empty `adaptation`, which
    1.14 refuses, is left out.
    """


@shape_rule(since="0.1", origin=("steps-registry:step.c3-kebab", "steps-registry:step.c3-nonempty", "SR-VALID-004"))
def stg152_malformed_c3() -> None:
    """The third coordinate of a step's prompt is not in lowercase words with hyphens.

    ## Why this matters
    `c3` is a folder name. Folders of other forms are not found on every system, and the prompt configuration refuses
    them.

    ## How to fix
    Write lowercase letters, with single hyphens between words; digits and underscores are not allowed.
    """
