"""How long stages take, what they change, and what they run."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import rule
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.ir.protocol.lifecycle import GRACE, LAST_OF_TIER, LONGEST, SHORTEST, Tier, grace_of, tier_of
from stagec.ir.protocol.stage_ids import SIDE_EFFECTS
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.envelopes.ids import find_durations, read_ids
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
    Make several stages of it where that is possible, so that each leaves its results and a checkpoint behind.
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
