"""Outputs, and paths of artifacts."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.ir.protocol.stage_ids import PathCheck, find_path_fault
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.ids import (
    expect_name,
    find_equal_paths,
    find_nested_paths,
    find_similar_paths,
    list_faulty_paths,
    stage_of_path,
)


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
    Other stages can only wait for it, and its success cannot be told by what it leaves. That is right for a stage that
    only has a side effect.

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
