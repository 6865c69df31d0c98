"""Inputs: which stage or file they come from."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import describe_makers, relate_writer, rule, suggest_input
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.envelopes.document import Envelope, InputKind, StageInput, StagePlan
from stagec.languages.envelopes.ids import find_repeated_ids
from stagec.languages.envelopes.inputs import (
    WriteTime,
    find_lost_outputs,
    find_lost_stages,
    find_own_reads,
    has_clear_dependencies,
    list_inputs,
)


@rule(since="0.1", origin=("stage-protocol:input-unknown-stage",))
def stg446_input_of_unknown_stage(plan: StagePlan) -> Iterator[Finding]:
    """An input reads the output of a stage that the plan does not have.

    ## Why this matters
    Nothing makes the file, so the stage has nothing to read.

    ## How to fix
    Write the id of a stage of the plan, exactly as it stands there. For a file of the project use a folder whose name
    does not look like the id of a stage.
    """
    for each in find_lost_stages(plan):
        if not each.dependencies:
            first, *others = each.inputs
            related = tuple(Related(at, "mentioned here too") for at in others[:_SHOWN])
            message = f"the input comes from stage {quote(each.name)}, which the plan does not have{each.hint}"
            yield Finding(first, message, related, each.guess, each.causes)


_SHOWN = 8


@rule(since="0.1", origin=("stage-protocol:input-unknown-artifact",))
def stg447_unknown_artifact(plan: StagePlan) -> Iterator[Finding]:
    """An input reads a file that is not an output of the stage it names.

    ## Why this matters
    The stage that is named does not make the file, so there is nothing to read.

    ## How to fix
    Write the path as it stands among the outputs of the stage, or add the output there.
    """
    for each in find_lost_outputs(plan):
        first, *others = each.ats
        shown = (Related(each.stage.at / "outputs", "its outputs"),) if each.stage.outputs else ()
        related = (*shown, *(Related(at, "read here too") for at in others[:_SHOWN]))
        what = f"no output {quote(each.path)}{each.hint}" if each.path else "no outputs"
        yield Finding(first, f"stage {quote(each.stage.name)} has {what}", related, each.guess, each.causes)


@rule(since="0.1", origin=("stage-protocol:input-from-self",))
def stg448_input_from_itself(plan: StagePlan) -> Iterator[Finding]:
    """A stage reads its own output.

    ## Why this matters
    The file does not exist before the stage has run. If it is there from an earlier attempt, the stage changes its own
    input.

    ## How to fix
    Read the output of an earlier stage, and write to a new file.
    """
    repeated = {each.at: (each.id_at,) for each in find_repeated_ids(plan)}
    for stage, given in list_inputs(plan, InputKind.OWN):
        at = stage.place_input(given.name)
        message = f"stage {quote(stage.name)} reads its own output {quote(given.path)}"
        yield Finding(at, message, causes=(at, *repeated.get(stage.at, ())))


@rule(since="0.1", origin=("stage-protocol:input-without-dependency",), severity=Severity.WARNING)
def stg449_undeclared_dependency(plan: StagePlan) -> Iterator[Finding]:
    """An input comes from a stage that is not among the dependencies.

    ## Why this matters
    stagec infers the dependency and runs the stages in order. Other programs go by the declared dependencies alone,
    and may start the stage before its input exists.

    ## How to fix
    Add the stage that makes the input to `dependencies`.
    """
    for stage in plan.envelopes:
        found: dict[str, list[StageInput]] = {}
        for given in stage.inputs.values() if stage.implied and has_clear_dependencies(stage) else ():
            if given.inferred and given.producer is not None:
                found.setdefault(given.producer, []).append(given)
        for producer, (first, *others) in found.items():
            related = tuple(Related(stage.place_input(each.name), "so does this one") for each in others[:_SHOWN])
            message = (
                f"input {quote(first.name)} comes from stage {quote(producer)}, which is not among the dependencies"
            )
            yield Finding(stage.place_input(first.name), message, related, _fix(stage, producer))


def _fix(stage: Envelope, producer: str) -> Fix | None:
    given = stage.members.get("dependencies")
    if not isinstance(given, list):
        return None
    return Fix("declare the dependency", (Edit(Change.INSERT, stage.at / "dependencies" / len(given), producer),))


@rule(since="0.1", origin=("stage-protocol:input-bare-reference",), severity=Severity.WARNING)
def stg450_bare_input(plan: StagePlan) -> Iterator[Finding]:
    """An input is named like an output of a dependency, without the stage that makes it.

    ## Why this matters
    stagec takes the output of the dependency. By the protocol a path begins with the stage:
    `S01_load_data/wine_df.parquet`. Another output of the same name, or another dependency, would change what the
    input means.

    ## How to fix
    Write the id of the stage before the name of the file.
    """
    for stage, given in list_inputs(plan, InputKind.OUTPUT):
        at = stage.place_input(given.name)
        if given.producer is None or plan.alone:
            message = f"input {quote(given.text)} does not name the stage whose output it is"
            yield Finding(at, message, causes=(at,))
        else:
            whole = f"{given.producer}/{given.text}"
            fix = Fix("write the stage before the file", (Edit(Change.REPLACE, at, whole),))
            yield Finding(at, f"input {quote(given.text)} is short for {quote(whole)}", fix=fix)


@rule(since="0.1", origin=("stage-protocol:input-bare-ambiguous",))
def stg451_ambiguous_input(plan: StagePlan) -> Iterator[Finding]:
    """An input has the name of outputs of several dependencies.

    ## Why this matters
    Which of the files is meant cannot be told.

    ## How to fix
    Write the id of the stage before the name of the file.
    """
    for stage, given in list_inputs(plan, InputKind.AMBIGUOUS):
        choices = listing([f"{each}/{given.text}" for each in given.candidates[:_SHOWN]], "or")
        more = ", or more" if len(given.candidates) > _SHOWN else ""
        yield Finding(stage.place_input(given.name), f"input {quote(given.text)} may be {choices}{more}")


@rule(since="0.1", origin=("stage-protocol:input-external",), severity=Severity.NOTE)
def stg452_external_input(plan: StagePlan) -> Iterator[Finding]:
    """An input is a file of the project, and no output of a stage.

    ## Why this matters
    stagec looks for the file below the project root and never writes to it. If an output of a stage was meant, the
    stage is missing from the path or from the dependencies.

    ## How to fix
    Nothing, if a file of the project is meant. Otherwise write the stage that makes it:
    `S01_load_data/wine_df.parquet`.
    """
    for stage, given in list_inputs(plan, InputKind.FILE):
        if given.path not in plan.missing:
            at = stage.place_input(given.name)
            message = f"input {quote(given.text)} is a file of the project, below its root{describe_makers(given)}"
            yield Finding(at, message, causes=(at,))


@rule(since="0.1", origin=("stage-protocol:input-url",), severity=Severity.NOTE)
def stg453_remote_input(plan: StagePlan) -> Iterator[Finding]:
    """An input is a URL.

    ## Why this matters
    The target of a URL can change from run to run, and cannot be checked before. stagec hands the text to the stage and
    fetches nothing.

    ## How to fix
    Nothing, if the stage fetches it. For runs that can be repeated, let one stage fetch the file and others read its
    output.
    """
    for stage, given in list_inputs(plan, InputKind.URL):
        message = f"input {quote(given.text)} is a URL, which the stage has to fetch itself"
        yield Finding(stage.place_input(given.name), message)


@rule(since="0.1", origin=("stage-protocol:parallel-stage", "stage-protocol:input-without-dependency"))
def stg480_concurrent_artifact(plan: StagePlan) -> Iterator[Finding]:
    """A stage reads a file that another stage may be writing at the same time.

    ## Why this matters
    The path of the input leads into the folder of another stage of the same run, and neither stage waits for the
    other. The file may be absent, or it may be an old one. A dependency is inferred only where an input names the
    stage.

    ## How to fix
    Write the stage and its output, without the folders of the run: `S01_load_data/wine_df.parquet`. Or add the other
    stage to the `dependencies`.
    """
    for each in find_own_reads(plan, WriteTime.CONCURRENT):
        at = each.stage.place_input(each.given.name)
        who = f"stage {quote(each.stage.name)} reads {quote(each.given.text)}"
        what = f"which stage {quote(each.writer.name)} may be writing at the same time: neither waits for the other"
        yield Finding(at, f"{who}, {what}{suggest_input(each)}", relate_writer(each), causes=(at,))


_WHEN = {
    WriteTime.OWN: "which only the stage itself writes",
    WriteTime.LATER: "which stage {} writes, and that stage waits for this one",
}


@rule(since="0.1", origin=("stage-protocol:input-from-self",))
def stg481_premature_read(plan: StagePlan) -> Iterator[Finding]:
    """A stage reads a file of its own run that is written only later.

    ## Why this matters
    The path of the input leads into the folder of the stage itself, or of one that waits for it. When the stage
    begins, the run has written no such file.

    ## How to fix
    Read the output of a stage that comes before. If a file of the project is meant, keep it outside of the folders of
    the run. If the other stage should come first, remove the dependency on this one.
    """
    for time, words in _WHEN.items():
        for each in find_own_reads(plan, time):
            at = each.stage.place_input(each.given.name)
            who = f"stage {quote(each.stage.name)} reads {quote(each.given.text)}"
            yield Finding(at, f"{who}, {words.format(quote(each.writer.name))}", relate_writer(each), causes=(at,))


@rule(since="0.1", origin=("stage-protocol:input-external",), severity=Severity.WARNING)
def stg482_missing_input(plan: StagePlan) -> Iterator[Finding]:
    """An input is not a file of the project, and no stage makes it.

    ## Why this matters
    A stage whose input is missing does not start: it fails, and so does everything that waits for it. Stages with a
    `run` have a warning. Without one, an executor carries out the stage, and this is a note.

    stagec looks from the root of the project, and from the folder of the plan. It says nothing about paths with
    variables or patterns, and about folders that tools fill, such as `.venv/`.

    ## How to fix
    Correct the path, or write the stage that makes the file: `S01_load_data/wine_df.parquet`. If something else makes
    the file before the run, ignore the warning with that reason.
    """
    for stage, given in list_inputs(plan, InputKind.FILE):
        if given.path in plan.missing:
            at = stage.place_input(given.name)
            makers = describe_makers(given) or ", and no stage makes it"
            message = f"input {quote(given.text)} is not a file of the project{makers}"
            yield Finding(at, message, causes=(at,), severity=None if stage.run else Severity.NOTE)
