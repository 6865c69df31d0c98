"""Members that a format requires, forbids or limits, for every format."""

from collections.abc import Iterator

from stagec.check.rules.document import rule, shape_rule
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.sources.tree import Tree


@shape_rule(
    since="0.1",
    origin=("steps-registry:agent.required", "steps-registry:agent.schema", "steps-registry:agent.complete"),
)
def stg120_missing_key() -> None:
    """A required member is missing.

    ## Why this matters
    An agent definition is read member by member; without one that is required the agent cannot be started, and stagec
    has nothing to judge in its place.

    ## How to fix
    Add the member. If a member nearby is named as the likely misspelling, correct its name.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:agent.schema", "steps-registry:agent.registry-path-type", "steps-registry:agent.complete"),
)
def stg121_wrong_type() -> None:
    """A member has a value of the wrong type.

    ## Why this matters
    A number in place of a text, or a text in place of a list, is converted or ignored, depending on the program that
    reads it.

    ## How to fix
    Write a value of the type that the message names.
    """


@shape_rule(
    since="0.1",
    origin=("steps-registry:agent.verdict-type", "steps-registry:agent.logging", "steps-registry:agent.schema"),
)
def stg122_unknown_value() -> None:
    """A member has a value that is none of those allowed.

    ## Why this matters
    The runner knows a fixed set of values for this member. Any other is refused at the start, or falls through to a
    default that nobody chose.

    ## How to fix
    Write one of the values that the message lists.
    """


@shape_rule(
    since="0.1", origin=("steps-registry:agent.name", "steps-registry:agent.param-cli", "steps-registry:agent.schema")
)
def stg123_malformed_value() -> None:
    """A text does not have the form that its member asks for.

    ## Why this matters
    Names and options become folder names and command lines. A text of another form breaks where it is used, far from
    where it is written.

    ## How to fix
    Write the text in the form that the message describes.
    """


@shape_rule(since="0.1", origin=("steps-registry:agent.schema", "steps-registry:doc.R-F20"))
def stg124_value_out_of_range() -> None:
    """A number is smaller or larger than its member allows.

    ## Why this matters
    A limit of zero or less ends a run before its first step, or is ignored; either way the run is not bounded as its
    author meant.

    ## How to fix
    Write a number within the limits that the message names.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:agent.unknown-top-key",
        "steps-registry:agent.schema",
        "steps-registry:beyond.unknown-keys",
        "climpt-1.14:wf.unknown-key",
    ),
    severity=Severity.WARNING,
)
def stg125_unknown_key() -> None:
    """A member has a name that the format does not know.

    ## Why this matters
    Nothing reads the member. Most often it is a misspelt name, and the member that was meant silently takes its
    default.

    ## How to fix
    Correct the name, or remove the member. Remarks can be kept under `comment`, or under a name that begins with `$`,
    `_` or `x-`.
    """


@shape_rule(since="0.1", origin=("steps-registry:agent.schema",))
def stg126_wrong_shape() -> None:
    """A value has none of the shapes that its member allows.

    ## Why this matters
    The member can be written in more than one way, and this is none of them. The intention is not clear, so the member
    is not read.

    ## How to fix
    Write the value in one of the ways that the message describes.
    """


@shape_rule(since="0.1", origin=("steps-registry:agent.complete", "steps-registry:step.key-eq-id"))
def stg127_empty_value() -> None:
    """A required text is empty.

    ## Why this matters
    An empty path or command names nothing. It is taken for absent by some programs and for the current folder by
    others.

    ## How to fix
    Write the text, or remove the member where it is optional.
    """


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:step.permission-mode",
        "steps-registry:agent.permission-mode",
        "steps-registry:reg.step-types",
    ),
)
def stg153_unknown_permission_mode() -> None:
    """A permission mode does not exist.

    ## Why this matters
    The mode says what tools may do without asking. With an unknown one a run either does not start or asks where
    nobody answers.

    ## How to fix
    Write `default`, `plan`, `acceptEdits` or `bypassPermissions`.
    """


_SIGNS = {
    "entry": "an entry is a pair of steps",
    "preflightConditions": "a validation step has 'preflightConditions'",
    "postLLMConditions": "a validation step has 'postLLMConditions'",
    "phase": "a validator has a 'phase'",
}


@rule(since="0.1", origin=("rulings:R22",))
def stg154_future_format(tree: Tree) -> Iterator[Finding]:
    """A step registry is written in a format between those of climpt 1.13 and 1.14.

    ## Why this matters
    Its steps are written as in 1.13, with `c2`, `c3` and `stepKind`, but its entries are pairs of steps, its
    conditions stand in two lists, or its validators have a phase, as in 1.14. No release of climpt reads such a
    registry: judged by the rules of either format, many of its lines would be wrong.

    ## How to fix
    Write the whole registry in the format of 1.14: `kind` instead of `stepKind`, and an `address` instead of `c2`,
    `c3`, `edition` and `adaptation`. To stay with 1.13, name one step for each entry, and write one list
    `validationConditions`.
    """
    for fault in tree.about("future-format"):
        message = "this registry mixes the formats of 1.13 and 1.14: its steps have the format of 1.13, but"
        yield Finding(fault.at, f"{message} {_SIGNS[fault.reason]}")


@rule(since="0.1", origin=("steps-registry:agent.legacy-1.11", "steps-registry:agent.complete"))
def stg155_legacy_agent(tree: Tree) -> Iterator[Finding]:
    """An agent definition is written in the format of version 1.11.

    ## Why this matters
    That format keeps `behavior`, `prompts` and `logging` at the top. Runners since then read them below `runner` and
    refuse the rest.

    ## How to fix
    Move the members below `runner`: prompts into `runner.flow`, verdicts into `runner.verdict`, tools and permissions
    into `runner.boundaries`, logging into `runner.logging`.
    """
    for fault in tree.about("legacy-agent"):
        members = fault.facts["members"]
        shown = listing(members) if isinstance(members, tuple) else ""
        yield Finding(
            fault.at, f"this agent definition is written in the format of 1.11: {shown} belong below 'runner'"
        )


_SENTENCES = {
    "no-file": "there is no step registry {named} beside the agent definition",
    "outside": "step registry {named} lies outside the project",
}


@rule(since="0.1", origin=("steps-registry:path.registry", "steps-registry:boot.registry-not-found", "SR-LOAD-003"))
def stg156_missing_registry(tree: Tree) -> Iterator[Finding]:
    """An agent definition names a step registry that is not there.

    ## Why this matters
    `runner.flow.prompts.registry` is where the agent's flow is read from. Without the file the agent cannot start.

    ## How to fix
    Correct the path: it is relative to the folder of the agent definition and must stay inside the project.
    """
    for fault in tree.about("missing-registry"):
        yield Finding(fault.at, _SENTENCES[fault.reason].format(named=quote(fault.facts["named"])))


@shape_rule(
    since="0.1",
    origin=(
        "steps-registry:agent.param-cli",
        "steps-registry:agent.param-type",
        "steps-registry:agent.param-description",
    ),
)
def stg157_incomplete_parameter() -> None:
    """A parameter of an agent lacks its option, its type or its description.

    ## Why this matters
    The command line is made from the parameters. Without an option a parameter cannot be given, without a type its
    value cannot be read, and without a description nobody knows what it is for.

    ## How to fix
    Add `cli`, such as `--issue`, `type` and `description`.
    """


@shape_rule(since="0.1", origin=("steps-registry:doc.R-F16",), severity=Severity.WARNING)
def stg158_unknown_parameter_check() -> None:
    """The value of a parameter is to be checked in a way that there is not.

    ## Why this matters
    `validation` of a parameter knows `min`, `max`, `pattern` and `enum`. Anything else, mostly a misspelling of these,
    is not looked at, and any value passes.

    ## How to fix
    Write one of the four, or delete the member.
    """
