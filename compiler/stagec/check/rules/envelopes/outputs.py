"""Durations, outputs, and paths of artifacts of stages."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.check.rules.envelopes import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.ir.protocol.lifecycle import GRACE, LAST_OF_TIER, LONGEST, SHORTEST, Tier, grace_of, tier_of
from stagec.ir.protocol.stage_ids import SIDE_EFFECTS, PathCheck, find_path_fault
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.ids import (
    expect_name,
    find_durations,
    find_equal_paths,
    find_nested_paths,
    find_similar_paths,
    list_faulty_paths,
    read_ids,
    stage_of_path,
)
from stagec.languages.envelopes.inputs import locate_script, measure_losses


@rule(since="0.1", origin=("stage-protocol:duration-too-short",))
def stg467_short_duration(plan: StagePlan) -> Iterator[Finding]:
    """A stage has less than 30 seconds.

    ## Why this matters
    The protocol allows 30 to 600 seconds.

    ## How to fix
    Say at least 30. The stage ends as soon as it is done, so a longer limit costs nothing.
    """
    for fault in plan.list_faults("short-duration"):
        yield Finding(fault.at, f"{fault.facts['got']:g} s is less than the {SHORTEST} s that a stage has at least")


@rule(since="0.1", origin=("stage-protocol:duration-too-long",))
def stg468_excessive_duration(plan: StagePlan) -> Iterator[Finding]:
    """A stage has more than 600 seconds.

    ## Why this matters
    No stage runs longer than ten minutes, whatever its envelope says: a long stage loses all its work when it fails.

    ## How to fix
    Make several stages of it, so that each leaves its results and a checkpoint behind.
    """
    for fault in plan.list_faults("excessive-duration"):
        yield Finding(fault.at, f"{fault.facts['got']:g} s is more than the {LONGEST} s that a stage has at most")


@rule(since="0.1", origin=("stage-protocol:duration-over-four-minutes",), severity=Severity.NOTE)
def stg469_long_stage(plan: StagePlan) -> Iterator[Finding]:
    """A stage has more than four minutes.

    ## Why this matters
    The protocol wants stages of at most four minutes, and has a tier for longer ones. What such a stage has done is
    lost when it fails.

    ## How to fix
    Split it into several stages if possible, so that each leaves its results and a checkpoint behind.
    """
    for at, duration in find_durations(plan, lambda duration: tier_of(duration) is Tier.EXTENDED):
        yield Finding(at, f"the stage has {duration:g} s, more than the 240 s that most stages should have")


@rule(since="0.1", origin=("stage-protocol:duration-maximum-tier",), severity=Severity.WARNING)
def stg470_exceptional_duration(plan: StagePlan) -> Iterator[Finding]:
    """A stage has more than eight minutes.

    ## Why this matters
    The protocol keeps this tier for exceptional cases. What such a stage has done is lost when it fails.

    ## How to fix
    Make several stages of it, so that each leaves its results and a checkpoint behind.
    """
    for at, duration in find_durations(
        plan, lambda duration: tier_of(duration) is Tier.MAXIMUM and duration <= LONGEST
    ):
        yield Finding(at, f"the stage has {duration:g} s, which is for exceptional cases only")


@rule(since="0.1", origin=("stage-protocol:duration-grace-clamped",), severity=Severity.WARNING)
def stg471_shortened_grace(plan: StagePlan) -> Iterator[Finding]:
    """The time between the warning and the interruption of a stage is cut short.

    ## Why this matters
    A stage that exceeds its limit has 30 seconds of grace before it is interrupted. No stage runs longer than 600
    seconds, so with a limit of more than 570 seconds less is left: none at 600.

    ## How to fix
    Say at most 570 seconds, or make several stages of it.
    """
    for at, duration in find_durations(plan, lambda duration: grace_of(duration) < GRACE and duration <= LONGEST):
        left = f"{grace_of(duration):g} s of grace instead of {GRACE} s"
        yield Finding(at, f"a limit of {duration:g} s leaves {left}, because every stage ends at {LONGEST} s")


@rule(since="0.1", origin=("stage-protocol:side-effect-retryable",), severity=Severity.WARNING)
def stg472_retryable_side_effect(plan: StagePlan) -> Iterator[Finding]:
    """A stage that seems to have a side effect can be run again after a failure.

    ## Why this matters
    A message that was sent or data that was published cannot be taken back. If the stage fails after that, another
    attempt does it once more.

    ## How to fix
    Say `retryable: false`, or give the stage another verb if it has no side effect.
    """
    for stage, found in zip(plan.envelopes, read_ids(plan), strict=True):
        verb = found.verb
        if verb in SIDE_EFFECTS and stage.retryable and stage.members.get("retryable", True) is True:
            at = stage.at / "retryable" if stage.says("retryable") else stage.id_at
            message = (
                f"stage {quote(stage.name)} seems to have a side effect ({verb}), and is tried again when it fails"
            )
            yield Finding(at, f'{message}; say "retryable": false', causes=(stage.id_at,))


@rule(since="0.1", origin=("stage-protocol:non-retryable-without-checkpoint",), severity=Severity.WARNING)
def stg473_unrecorded_side_effect(plan: StagePlan) -> Iterator[Finding]:
    """A stage that must not run twice leaves no checkpoint.

    ## Why this matters
    Without a checkpoint nothing records that the stage is completed. When the run is resumed after a later crash,
    whether its side effect has happened cannot be told.

    ## How to fix
    Say `checkpointAfter: true`. The protocol's own example of such a stage does not, and has this fault.
    """
    for stage in plan.envelopes:
        if not stage.retryable and not stage.checkpoint_after:
            message = (
                f"stage {quote(stage.name)} is not retryable, but leaves no checkpoint that records its completion"
            )
            yield Finding(stage.at / "checkpointAfter", message)


@rule(since="0.1", origin=("stage-protocol:checkpoint-gap",), severity=Severity.NOTE)
def stg474_checkpoint_gap(plan: StagePlan) -> Iterator[Finding]:
    """More than four minutes of work lie between two checkpoints.

    ## Why this matters
    A crash loses what was done since the last checkpoint. This stage leaves none, so the stages that need it add to
    the loss.

    ## How to fix
    Say `checkpointAfter: true`, or split the stages so that less lies between two checkpoints.
    """
    for stage, lost in measure_losses(plan):
        if lost > LAST_OF_TIER[Tier.STANDARD]:
            message = f"without a checkpoint after stage {quote(stage.name)}, a crash can lose {lost:g} s of work"
            yield Finding(stage.at / "checkpointAfter", message)


@rule(since="0.1", origin=("rulings:stage-plans",), severity=Severity.WARNING)
def stg483_missing_script(plan: StagePlan) -> Iterator[Finding]:
    """The script that a stage runs is not there.

    ## Why this matters
    The program cannot be started, or ends at once with an error: the stage fails in every attempt.

    stagec looks from the root of the project, and from the folder of the plan. Only these words are scripts: the first
    one if it is a path, such as `bin/load`, and the first argument of an interpreter, such as `load.py` in `python3
    load.py`. Names without a folder are programs of the system, and stagec does not look for them.

    ## How to fix
    Correct the path, or write the script. If something else makes it before the run, ignore the warning with that
    reason.
    """
    for stage in plan.envelopes if plan.missing else ():
        place = locate_script(stage.run)
        if place is not None and stage.run[place] in plan.missing:
            message = f"stage {quote(stage.name)} runs {quote(stage.run[place])}, which is not a file of the project"
            yield Finding(stage.at / "run" / place, message)


@rule(since="0.1", origin=("stage-protocol:output-duplicate-path",))
def stg454_duplicate_output_path(plan: StagePlan) -> Iterator[Finding]:
    """Two outputs of a stage are the same file.

    ## Why this matters
    One of them overwrites the other.

    ## How to fix
    Give each output a file of its own, or remove one of them.
    """
    for each in find_equal_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        message = f"outputs {quote(each.first)} and {quote(each.second)} are the same file"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))


@rule(since="0.1", origin=("stage-protocol:output-case-collision",), severity=Severity.WARNING)
def stg455_similar_output_paths(plan: StagePlan) -> Iterator[Finding]:
    """The paths of two outputs differ only in case, or in how their letters are composed.

    ## Why this matters
    They are one file where the file system ignores case, as on most Macs and Windows machines. One then overwrites the
    other.

    ## How to fix
    Give the outputs names that differ in more than that.
    """
    for each in find_similar_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        one, other = each.stage.outputs[each.first], each.stage.outputs[each.second]
        message = f"outputs {quote(one)} and {quote(other)} are the same file on systems that ignore case"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))


@rule(since="0.1", origin=("stage-protocol:output-path-conflict",))
def stg456_nested_output_paths(plan: StagePlan) -> Iterator[Finding]:
    """One output of a stage is a file, and another one needs a folder of the same name.

    ## Why this matters
    A path cannot be a file and a folder at the same time, so the stage can never write both.

    ## How to fix
    Rename one of them.
    """
    for each in find_nested_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        inner, outer = sorted((each.stage.outputs[each.first], each.stage.outputs[each.second]), key=len, reverse=True)
        message = f"output {quote(outer)} is a file and cannot be a folder in {quote(inner)}"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))


@rule(since="0.1", origin=("stage-protocol:output-already-qualified",), severity=Severity.WARNING)
def stg457_qualified_output(plan: StagePlan) -> Iterator[Finding]:
    """The path of an output begins with the id of its own stage.

    ## Why this matters
    Outputs are paths in the folder of the stage, so the folder is there twice:
    `S01_load_data/S01_load_data/df.parquet`. Inputs of other stages then have to name both.

    ## How to fix
    Write only what follows the id.
    """
    for stage in plan.envelopes:
        for name, path in stage.outputs.items():
            if stage.id is not None and path.startswith(f"{stage.id}/"):
                at = stage.place_output(name)
                message = f"output {quote(path)} names its own stage, in whose folder it is anyway"
                yield Finding(at, message, causes=(at,))


@rule(since="0.1", origin=("stage-protocol:output-in-other-stage",))
def stg458_output_in_other_stage(plan: StagePlan) -> Iterator[Finding]:
    """The path of an output begins with the id of another stage.

    ## Why this matters
    A stage writes to its own folder only, so the file never gets where the path says. Two stages that write to one
    folder would also overwrite each other.

    ## How to fix
    Write a path in the folder of the stage itself. If the other stage makes the file, it is an output there.
    """
    for stage in plan.envelopes if not plan.alone else ():
        for name, path in stage.outputs.items():
            other = stage_of_path(plan, path)
            if other is not None and other.id != stage.id:
                at = stage.place_output(name)
                message = (
                    f"output {quote(path)} names the folder of stage {quote(other.name)}, "
                    "but is in the folder of its own stage"
                )
                yield Finding(at, message, causes=(at,))


@rule(since="0.1", origin=("stage-protocol:no-outputs",), severity=Severity.NOTE)
def stg459_stage_without_outputs(plan: StagePlan) -> Iterator[Finding]:
    """A stage has no outputs.

    ## Why this matters
    Other stages can only wait for it, and no output shows its success. That is right for a stage that only has a side
    effect.

    ## How to fix
    Nothing, if the stage leaves no files. Otherwise declare them.
    """
    for stage in plan.envelopes:
        if stage.members.get("outputs") == {}:
            yield Finding(stage.at / "outputs", f"stage {quote(stage.name)} has no outputs")


@rule(since="0.1", origin=("stage-protocol:artifact-naming",), severity=Severity.NOTE)
def stg460_unconventional_artifact_name(plan: StagePlan) -> Iterator[Finding]:
    """The name of an output does not follow the protocol's guidelines.

    ## Why this matters
    Readers of a run tell by the names what the files are: `{name}_df.parquet` for data frames, `{name}_model.pkl` for
    models, `{name}_metrics.json` for metrics, `{name}_report.md` or `{name}_summary.md` for reports.

    ## How to fix
    Rename the file, here and in the inputs of other stages, or leave it: the name is legal.
    """
    for stage in plan.envelopes:
        for name, path in stage.outputs.items():
            expected = expect_name(name, path)
            if expected:
                at = stage.place_output(name)
                message = f"output {quote(path)} is not named like {quote(expected)}"
                yield Finding(at, message, causes=(at,))


@rule(since="0.1", origin=("stage-protocol:artifact-path-absolute",))
def stg461_absolute_artifact_path(plan: StagePlan) -> Iterator[Finding]:
    """The path of an artifact is absolute.

    ## Why this matters
    Outputs lie in the folder of their stage, and inputs below the folder of the run or the project root. A path from
    the root of a file system, or with the letter of a drive, leads out of them.

    ## How to fix
    Write a path relative to the folder of the stage for an output, and relative to the project root for a file of the
    project.
    """
    for each in list_faulty_paths(plan, PathCheck.ABSOLUTE):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")


@rule(since="0.1", origin=("stage-protocol:artifact-path-traversal",))
def stg462_climbing_artifact_path(plan: StagePlan) -> Iterator[Finding]:
    """The path of an artifact contains `.` or `..`.

    ## Why this matters
    Such a path can lead out of the folder of the run, and one file would have many names.

    ## How to fix
    Write the path without these parts.
    """
    for each in list_faulty_paths(plan, PathCheck.TRAVERSAL):
        bare = each.text.removeprefix("./")
        is_plain = bare != each.text and find_path_fault(bare) is None
        fix = Fix(f"write {quote(bare)}", (Edit(Change.REPLACE, each.at, bare),)) if is_plain else None
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}", fix=fix)


@rule(since="0.1", origin=("stage-protocol:artifact-path-segment",))
def stg463_unusable_artifact_path(plan: StagePlan) -> Iterator[Finding]:
    """A part of the path of an artifact cannot be the name of a file.

    ## Why this matters
    It is empty, too long, the name of a device on Windows, ends with a dot or a blank, or contains two dots in a row.
    Such a name is refused by the programs of the protocol or by a file system.

    ## How to fix
    Write a name of letters, digits, `_`, `-` and single dots.
    """
    for each in list_faulty_paths(plan, PathCheck.SEGMENT):
        part = each.fault.part
        subject = f"part {quote(part)} of path" if part not in {"", each.text} else "path"
        yield Finding(each.at, f"{subject} {quote(each.text)} {each.fault.words}")


@rule(since="0.1", origin=("stage-protocol:artifact-path-control",))
def stg464_invisible_character_in_path(plan: StagePlan) -> Iterator[Finding]:
    """The path of an artifact contains a character that cannot be seen.

    ## Why this matters
    Control characters, characters without width and those that turn the direction of text make a path look like
    another one.

    ## How to fix
    Type the path anew, without them.
    """
    for each in list_faulty_paths(plan, PathCheck.CONTROL):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")


@rule(since="0.1", origin=("stage-protocol:artifact-path-portability",), severity=Severity.WARNING)
def stg465_unportable_artifact_path(plan: StagePlan) -> Iterator[Finding]:
    """The path of an artifact contains characters that do not work everywhere.

    ## Why this matters
    Windows refuses `<>:"|?*` in names and takes a backslash for a slash. Programs take a name that begins with `-` for
    an option, and shells take `~` for a home folder.

    ## How to fix
    Write a name of letters, digits, `_`, `-` and dots that begins with a letter or a digit.
    """
    for each in list_faulty_paths(plan, PathCheck.PORTABILITY):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")


@rule(since="0.1", origin=("stage-protocol:artifact-path-trailing-slash",))
def stg466_folder_as_artifact(plan: StagePlan) -> Iterator[Finding]:
    """The path of an artifact ends with a slash.

    ## Why this matters
    Artifacts are files: they are checked, hashed and published one by one. A slash at the end means a folder.

    ## How to fix
    Name the file. To hand on several files, declare each of them, or let the stage pack them into one.
    """
    for each in list_faulty_paths(plan, PathCheck.TRAILING_SLASH):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")
