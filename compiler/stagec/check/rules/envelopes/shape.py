"""The shape of a stage plan: its members and their types."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import (
    describe_found,
    describe_type,
    list_names,
    name_owner,
    report_absence,
    report_missing,
    rule,
)
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import format_count, quote
from stagec.languages.envelopes.document import StagePlan


@rule(since="0.1", origin=("stage-protocol:envelope-not-object",))
def stg401_malformed_envelope(plan: StagePlan) -> Iterator[Finding]:
    """An envelope is not an object.

    ## Why this matters
    A stage is described by the members of an object: its id, its goal, its inputs and outputs. Anything else describes
    no stage, and its content is lost.

    ## How to fix
    Write the envelope as an object with `stageId`, `goal`, `inputs`, `outputs` and `maxDurationSec`.
    """
    for fault in plan.list_faults("malformed-envelope"):
        yield Finding(fault.at, f"an envelope must be an object, found {describe_found(fault)}")


@rule(since="0.1", origin=("stage-protocol:missing-stage-id",))
def stg402_missing_stage_id(plan: StagePlan) -> Iterator[Finding]:
    """An envelope has no `stageId`.

    ## Why this matters
    Other stages name a stage by its id, its outputs lie in a folder of that name, and checkpoints record it. A stage
    without one can neither be depended on nor resumed.

    ## How to fix
    Add `stageId`: `S`, two digits, and what the stage does to what, such as `S01_load_data`.
    """
    yield from report_missing(plan, "missing-stage-id")


@rule(since="0.1", origin=("stage-protocol:missing-goal",))
def stg403_missing_goal(plan: StagePlan) -> Iterator[Finding]:
    """An envelope has no `goal`.

    ## Why this matters
    The goal tells the executor of the stage what to achieve, and the reader of a report what was attempted. Nothing can
    stand in for it.

    ## How to fix
    Add `goal`: one sentence of 10 to 200 characters.
    """
    yield from report_missing(plan, "missing-goal")


@rule(since="0.1", origin=("stage-protocol:missing-inputs",), severity=Severity.WARNING, groups=("strict",))
def stg404_missing_inputs(plan: StagePlan) -> Iterator[Finding]:
    """An envelope does not say what the stage reads.

    ## Why this matters
    Without `inputs` stagec assumes that the stage reads nothing. Files that it does read are then neither given to it
    nor checked, and another stage may change them meanwhile.

    ## How to fix
    Add `inputs`; write `inputs: {}` for a stage that reads nothing.
    """
    yield from report_missing(plan, "missing-inputs", "stagec assumes that the stage reads nothing")


@rule(since="0.1", origin=("stage-protocol:missing-outputs",), severity=Severity.WARNING, groups=("strict",))
def stg405_missing_outputs(plan: StagePlan) -> Iterator[Finding]:
    """An envelope does not say what the stage writes.

    ## Why this matters
    Without `outputs` stagec assumes that the stage writes nothing. Nothing that it writes is checked, published or
    given to other stages.

    ## How to fix
    Add `outputs`; write `outputs: {}` for a stage that writes nothing.
    """
    yield from report_missing(plan, "missing-outputs", "stagec assumes that the stage writes nothing")


@rule(since="0.1", origin=("stage-protocol:missing-max-duration",), severity=Severity.WARNING, groups=("strict",))
def stg406_missing_duration(plan: StagePlan) -> Iterator[Finding]:
    """An envelope does not say how long the stage may take.

    ## Why this matters
    The watchdog needs a limit. Without `maxDurationSec` stagec takes the default of the protocol, 240 seconds, which
    may be too short for the work or much too long to wait for.

    ## How to fix
    Add `maxDurationSec`, from 30 to 600.
    """
    yield from report_missing(plan, "missing-duration", "the stage may take 240 seconds")


@rule(since="0.1", origin=("stage-protocol:wrong-type",))
def stg407_mistyped_envelope_member(plan: StagePlan) -> Iterator[Finding]:
    """A member of an envelope has a value of the wrong type.

    ## Why this matters
    A number in quotes is a text, and a text is not a list. Programs that read envelopes refuse such a member or take it
    for something else.

    ## How to fix
    Write a value of the type that the message names.
    """
    for fault in plan.list_faults("mistyped-envelope-member"):
        yield Finding(fault.at, describe_type(plan, fault))


@rule(since="0.1", origin=("stage-protocol:input-value-type",))
def stg408_mistyped_input(plan: StagePlan) -> Iterator[Finding]:
    """An input is not a text.

    ## Why this matters
    An input is a path or an address, written as a text. From anything else no stage can tell where to read.

    ## How to fix
    Write the input as one text, such as `data/wine.csv`.
    """
    for fault in plan.list_faults("mistyped-input"):
        yield Finding(fault.at, describe_type(plan, fault))


@rule(since="0.1", origin=("stage-protocol:output-value-type",))
def stg409_mistyped_output(plan: StagePlan) -> Iterator[Finding]:
    """An output is not a text.

    ## Why this matters
    An output is a path, written as a text. From anything else no stage can tell where to write.

    ## How to fix
    Write the output as one text, such as `wine_df.parquet`.
    """
    for fault in plan.list_faults("mistyped-output"):
        yield Finding(fault.at, describe_type(plan, fault))


@rule(since="0.1", origin=("stage-protocol:dependency-type",))
def stg410_mistyped_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A dependency is not a text.

    ## Why this matters
    A stage depends on other stages by their ids, which are texts. A dependency of another type names no stage, so
    nothing is waited for.

    ## How to fix
    Write the id of the stage, such as `S01_load_data`.
    """
    for fault in plan.list_faults("mistyped-dependency"):
        yield Finding(fault.at, describe_type(plan, fault))


@rule(since="0.1", origin=("stage-protocol:goal-too-short",))
def stg411_short_goal(plan: StagePlan) -> Iterator[Finding]:
    """The goal of a stage has fewer than ten characters.

    ## Why this matters
    A goal so short tells nobody what the stage is to achieve. The JSON Schema of the protocol refuses it.

    ## How to fix
    Write a sentence of 10 to 200 characters.
    """
    for fault in plan.list_faults("short-goal"):
        number = format_count(len(str(fault.facts["got"])), "character")
        yield Finding(fault.at, f"the goal of {name_owner(plan, fault.at)} has {number}, fewer than 10")


@rule(since="0.1", origin=("stage-protocol:goal-too-long",))
def stg412_long_goal(plan: StagePlan) -> Iterator[Finding]:
    """The goal of a stage has more than 200 characters.

    ## Why this matters
    A goal is shown in lists, drawings and messages, where only one sentence has room. The JSON Schema of the protocol
    refuses a longer one.

    ## How to fix
    Write a sentence of 10 to 200 characters, and keep the rest elsewhere.
    """
    for fault in plan.list_faults("long-goal"):
        length = len(str(fault.facts["got"]))
        yield Finding(fault.at, f"the goal of {name_owner(plan, fault.at)} has {length} characters, more than 200")


@rule(since="0.1", origin=("stage-protocol:goal-blank",))
def stg413_blank_goal(plan: StagePlan) -> Iterator[Finding]:
    """The goal of a stage is mostly blank.

    ## Why this matters
    A goal of ten characters that are mostly blanks passes the JSON Schema of the protocol and says nothing.

    ## How to fix
    Write a sentence of 10 to 200 characters.
    """
    for fault in plan.list_faults("blank-goal"):
        number = sum(not each.isspace() for each in str(fault.facts["got"]))
        owner = name_owner(plan, fault.at)
        yield Finding(
            fault.at, f"the goal of {owner} has {format_count(number, 'character')} besides blanks, fewer than 10"
        )


@rule(since="0.1", origin=("stage-protocol:unknown-field",), severity=Severity.WARNING)
def stg414_unknown_envelope_member(plan: StagePlan) -> Iterator[Finding]:
    """An envelope or a plan has a member that the format does not know.

    ## Why this matters
    Nothing reads the member. Most often it is a misspelt name, and the member that was meant silently takes its
    default.

    ## How to fix
    Correct the name, or remove the member. Remarks can be kept under `comment`, or under a name that begins with `$`,
    `_` or `x-`.
    """
    known: dict[tuple[str, ...], NameIndex] = {}
    for fault in plan.list_faults("unknown-envelope-member"):
        name, names = str(fault.facts["name"]), list_names(fault.facts["known"])
        index = known.setdefault(names, NameIndex(names))
        message = f"unknown member {quote(name)} in {name_owner(plan, fault.at)}{hint(name, index)}"
        yield Finding(fault.at, message, fix=guess(name, index))


@rule(since="0.1", origin=("stage-protocol:null-optional",))
def stg415_null_envelope_member(plan: StagePlan) -> Iterator[Finding]:
    """An optional member of an envelope is `null`.

    ## Why this matters
    `dependencies`, `retryable` and `checkpointAfter` may be left out and then have a default; `null` is not a value of
    theirs. Programs that follow the JSON Schema of the protocol refuse it.

    ## How to fix
    Remove the member, or give it a value.
    """
    for fault in plan.list_faults("null-envelope-member"):
        fix = Fix("leave it out", (Edit(Change.REMOVE, Place(fault.at.file, fault.at.pointer)),))
        yield Finding(fault.at, f"{describe_type(plan, fault)}; leave it out for its default", fix=fix)


@rule(since="0.1", origin=("rulings:stage-plans",))
def stg416_malformed_run(plan: StagePlan) -> Iterator[Finding]:
    """`run` is not a program with arguments.

    ## Why this matters
    A stage is started without a shell, so stagec needs to know where one argument ends and the next begins. A command
    line in one text would have to be split by guessing.

    ## How to fix
    Write a list: the program, then each argument, such as `["python", "scripts/load.py"]`.
    """
    for fault in plan.list_faults("malformed-run"):
        wanted = "a list of texts: the program and its arguments"
        owner = name_owner(plan, fault.at)
        yield Finding(fault.at, f"'run' of {owner} must be {wanted}, found {describe_found(fault)}")


@rule(since="0.1", origin=("rulings:stage-plans",))
def stg417_mistyped_plan_member(plan: StagePlan) -> Iterator[Finding]:
    """A member of a stage plan has a value that it cannot have, or `stages` is not there.

    ## Why this matters
    `stages` lists the envelopes, `reportTitle` and `runId` name the folders of runs, and `maxParallel` limits how many
    stages run at the same time. With another value the member is not read, and its default stands.

    ## How to fix
    Write a value of the type that the message names, and `stages` where another name lists the envelopes.
    """
    for fault in plan.list_faults("mistyped-plan-member"):
        is_absent = fault.reason == "required"
        yield report_absence(plan, fault) if is_absent else Finding(fault.at, describe_type(plan, fault))
