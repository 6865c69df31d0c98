"""Members that a format wants, refuses or limits, whatever the format is."""

from stagec.check.rules.document import shape_rule
from stagec.core.diagnostic import Severity


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
    A number where a text is expected, or a text where a list is expected, is read as something else or not at all,
    depending on the program that reads it.

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
    The member can be written in more than one way, and this is none of them. What was meant cannot be told, so it is
    not read.

    ## How to fix
    Write the value in one of the ways that the message describes.
    """


@shape_rule(since="0.1", origin=("steps-registry:agent.complete", "steps-registry:step.key-eq-id"))
def stg127_empty_value() -> None:
    """A text that must say something is empty.

    ## Why this matters
    An empty path or command names nothing. It is taken for absent by some programs and for the current folder by
    others.

    ## How to fix
    Write the text, or remove the member where it is optional.
    """
