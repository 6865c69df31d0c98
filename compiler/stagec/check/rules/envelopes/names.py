"""Ids of stages and names of runs."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import rule
from stagec.core.diagnostic import Severity
from stagec.core.nearest import hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.ir.protocol.stage_ids import LONGEST_ID, VERBS, StageIdFault, suggest_stage_id
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.ids import (
    find_id_faults,
    find_odd_names,
    find_repeated_ids,
    find_unusable_names,
    number_stages,
)


@rule(
    since="0.1",
    origin=(
        "stage-protocol:stage-id-format",
        "stage-protocol:stage-id-path-unsafe",
    ),
)
def stg425_misformed_stage_id(plan: StagePlan) -> Iterator[Finding]:
    """The id of a stage is not written as `S{NN}_{verb}_{noun}`.

    ## Why this matters
    The id is the name of the stage's folder, and markers and checkpoints tell stages apart by it. The programs that
    read them expect the letter `S`, two digits, and words in small letters of ASCII that are joined by underscores.

    ## How to fix
    Write the id like `S01_load_data`. It may have at most 255 characters.
    """
    for stage, found in find_id_faults(plan, StageIdFault.FORMAT, StageIdFault.TOO_LONG):
        if StageIdFault.TOO_LONG in found.faults:
            message = f"stage id {quote(found.text)} has {len(found.text)} characters, which is more than {LONGEST_ID}"
        else:
            meant = suggest_stage_id(found.text)
            near = f"; did you mean {quote(meant)}?" if meant is not None else ", such as 'S01_load_data'"
            message = f"stage id {quote(found.text)} is not written as S{{NN}}_{{verb}}_{{noun}}{near}"
        yield Finding(stage.id_at, message)


@rule(since="0.1", origin=("stage-protocol:stage-id-sequence-zero",))
def stg426_zero_stage_number(plan: StagePlan) -> Iterator[Finding]:
    """The number of a stage is 00.

    ## Why this matters
    Stages are numbered from 01 to 99.

    ## How to fix
    Give the stage the number of its place in the plan. Several stages may share one number.
    """
    for stage, found in find_id_faults(plan, StageIdFault.SEQUENCE_ZERO):
        yield Finding(stage.id_at, f"stage id {quote(found.text)} has the number 00; numbers begin with 01")


@rule(since="0.1", origin=("stage-protocol:stage-id-missing-verb",))
def stg427_stage_id_without_verb(plan: StagePlan) -> Iterator[Finding]:
    """The id of a stage does not say what the stage does.

    ## Why this matters
    An id is `S{NN}_{verb}_{noun}`. A single word that names no action leaves open what happens to the thing that it
    names.

    ## How to fix
    Write the verb before the noun: `S01_load_data` for `S01_data`.
    """
    for stage, found in find_id_faults(plan, StageIdFault.MISSING_VERB):
        message = f"stage id {quote(found.text)} has no verb before {quote(found.verb)}"
        yield Finding(stage.id_at, f"{message}; write it like {quote(f'S{found.number:02}_load_{found.verb}')}")


@rule(since="0.1", origin=("stage-protocol:stage-id-missing-noun",), severity=Severity.WARNING, groups=("strict",))
def stg428_stage_id_without_noun(plan: StagePlan) -> Iterator[Finding]:
    """The id of a stage does not say what the stage works on.

    ## Why this matters
    An id is `S{NN}_{verb}_{noun}`. The protocol itself uses ids such as `S02_eda`, but its schema and the programs
    that save checkpoints refuse them.

    ## How to fix
    Write a noun after the verb: `S05_evaluate_model` for `S05_evaluate`, `S02_explore_data` for `S02_eda`.
    """
    for stage, found in find_id_faults(plan, StageIdFault.MISSING_NOUN):
        message = f"stage id {quote(found.text)} has no noun after {quote(found.verb)}"
        yield Finding(stage.id_at, f"{message}, so other programs refuse its checkpoints")


@rule(since="0.1", origin=("stage-protocol:stage-id-digits",), severity=Severity.WARNING, groups=("strict",))
def stg429_stage_id_with_digits(plan: StagePlan) -> Iterator[Finding]:
    """The words in the id of a stage contain digits.

    ## Why this matters
    The schema of the protocol allows digits only in the number, so other programs refuse the checkpoints of the stage.

    ## How to fix
    Spell the number out, or tell the stages apart by another word: `S02_process_first` for `S02_process_chunk1`.
    """
    for stage, found in find_id_faults(plan, StageIdFault.DIGITS):
        message = f"stage id {quote(found.text)} has digits behind its number, so other programs refuse its checkpoints"
        yield Finding(stage.id_at, message)


@rule(since="0.1", origin=("stage-protocol:stage-id-underscore-run",), severity=Severity.WARNING)
def stg430_stray_underscore(plan: StagePlan) -> Iterator[Finding]:
    """The id of a stage ends with an underscore, or has two in a row.

    ## Why this matters
    It is most likely a slip, and the id is easily confused with the one without it.

    ## How to fix
    Join the words with one underscore each.
    """
    for stage, found in find_id_faults(plan, StageIdFault.UNDERSCORE_RUN):
        plain = "_".join(word for word in found.text.split("_") if word)
        yield Finding(stage.id_at, f"stage id {quote(found.text)} has a stray underscore; did you mean {quote(plain)}?")


@rule(since="0.1", origin=("stage-protocol:stage-id-vague-verb",))
def stg431_meaningless_stage_id(plan: StagePlan) -> Iterator[Finding]:
    """The id of a stage says nothing about what the stage does.

    ## Why this matters
    The id is all that is seen of a stage in logs, folders and pictures. The protocol lists `S01_do_stuff` as a wrong
    id.

    ## How to fix
    Say what the stage does and on what: `S01_load_data`.
    """
    for stage, found in find_id_faults(plan, StageIdFault.MEANINGLESS):
        yield Finding(stage.id_at, f"stage id {quote(found.text)} says nothing about what the stage does")


@rule(since="0.1", origin=("stage-protocol:stage-id-vague-verb",), severity=Severity.WARNING)
def stg432_vague_verb(plan: StagePlan) -> Iterator[Finding]:
    """The verb in the id of a stage is vague.

    ## Why this matters
    `do`, `handle` or `make` fits every stage, so a reader of logs and folders learns nothing from it.

    ## How to fix
    Use a verb that says what happens. The protocol suggests load, validate, clean, explore, engineer, split, train,
    tune, evaluate, analyze, generate and export.
    """
    for stage, found in find_id_faults(plan, StageIdFault.VAGUE_VERB):
        yield Finding(stage.id_at, f"verb {quote(found.verb)} in stage id {quote(found.text)} is vague")


@rule(since="0.1", origin=("stage-protocol:stage-id-unknown-verb",), severity=Severity.NOTE)
def stg433_unknown_verb(plan: StagePlan) -> Iterator[Finding]:
    """The verb in the id of a stage is none of the protocol's vocabulary.

    ## Why this matters
    Common verbs make plans easy to compare. Another verb is legal: the protocol uses `prepare` and `notify` itself. It
    may also be a slip of the pen.

    ## How to fix
    Use load, validate, clean, explore, engineer, split, train, tune, evaluate, analyze, generate or export where one
    fits.
    """
    for stage, found in find_id_faults(plan, StageIdFault.UNKNOWN_VERB):
        message = f"verb {quote(found.verb)} in stage id {quote(found.text)} is not in the protocol's vocabulary"
        yield Finding(stage.id_at, f"{message}{hint(found.verb, VERBS)}")


@rule(since="0.1", origin=("stage-protocol:duplicate-stage-id",))
def stg434_duplicate_stage_id(plan: StagePlan) -> Iterator[Finding]:
    """Two stages of a plan have the same id.

    ## Why this matters
    The id is the name of the stage's folder, and dependencies and inputs name stages by it. Which one is meant cannot
    be told.

    ## How to fix
    Give one of them another id. Stages may share a number, but not all their words.
    """
    for stage in find_repeated_ids(plan):
        first = plan.by_id[stage.name]
        message = f"an earlier stage has the id {quote(stage.id)} too"
        yield Finding(stage.id_at, message, (Related(first.id_at, "the earlier stage"),))


@rule(since="0.1", origin=("stage-protocol:shared-sequence-number",), severity=Severity.NOTE)
def stg435_shared_stage_number(plan: StagePlan) -> Iterator[Finding]:
    """Several stages of a plan have the same number.

    ## Why this matters
    A number that is shared does not tell the order of stages, and the number alone, such as `S03`, names none of them.
    It is legal, and often meant for stages that run at the same time.

    ## How to fix
    Leave it if the stages are alternatives or run side by side. Otherwise number them in their order.
    """
    shared: dict[int, list[str]] = {}
    for name, number in number_stages(plan).items():
        shared.setdefault(number, []).append(name)
    for number, names in shared.items():
        if number and len(names) > 1:
            related = tuple(Related(plan.by_id[name].id_at, "this one too") for name in (names[0], *names[2:_SHOWN]))
            message = f"{len(names)} stages share the number {number:02}: {listing(names)}"
            yield Finding(plan.by_id[names[1]].id_at, message, related)


_SHOWN = 8


@rule(since="0.1", origin=("stage-protocol:plan-empty",))
def stg436_empty_plan(plan: StagePlan) -> Iterator[Finding]:
    """A stage plan has no stages.

    ## Why this matters
    There is nothing to run.

    ## How to fix
    List the envelopes of the stages.
    """
    if plan.is_whole and not plan.envelopes and plan.members.get("stages", []) == []:
        yield Finding(plan.root, "the plan has no stages")


@rule(
    since="0.1",
    origin=(
        "stage-protocol:run-id-format",
        "stage-protocol:report-title-format",
    ),
    severity=Severity.NOTE,
)
def stg478_unconventional_run_name(plan: StagePlan) -> Iterator[Finding]:
    """The id of a run or the title of a report is not written as the protocol shows them.

    ## Why this matters
    Both are names of folders. Runs are called `run-20260102-143022` by date and time, or `run-001`; titles are words
    in small letters that are joined by hyphens.

    ## How to fix
    Rename it, or leave it: any name that can be that of a folder works.
    """
    for each in find_odd_names(plan):
        yield Finding(each.at, each.sentence, causes=(each.at,))


@rule(
    since="0.1",
    origin=(
        "stage-protocol:run-name-reserved",
        "stage-protocol:run-name-path-unsafe",
    ),
)
def stg479_unusable_run_name(plan: StagePlan) -> Iterator[Finding]:
    """The id of a run or the title of a report cannot be the name of its folder.

    ## Why this matters
    The results of a run lie in `reports/{reportTitle}/{runId}`. A name that is reserved, or that no file system or
    other program of the protocol accepts, would put them elsewhere or nowhere.

    ## How to fix
    Use letters, digits, `_` and `-`. `checkpoints`, `staging` and `queue` are names of folders that the protocol uses
    itself.
    """
    for each in find_unusable_names(plan):
        yield Finding(each.at, each.sentence)
