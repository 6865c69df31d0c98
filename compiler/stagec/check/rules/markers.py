"""STG8xx: markers in the output of a stage."""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Family, Finding
from stagec.core.words import listing, quote
from stagec.ir.protocol.markers import (
    CATEGORIES,
    CHECKPOINT_SUBTYPES,
    END_STATUSES,
    REASONS,
    STAGE_SUBTYPES,
    SUBTYPES,
    BrokenMarker,
    MarkedLine,
    Marker,
    MarkerPart,
)

FAMILY = Family(__name__, (range(800, 850),), MarkedLine)
rule = FAMILY.rule


_LONGEST = 60
"""Characters of a name that somebody may have misspelt."""


def suggest(name: str, names: NameIndex) -> str:
    """Return the known name that is nearest, as the end of a sentence."""
    return hint(name, names) if len(name) <= _LONGEST else ""


def describe_subtype(marker: Marker) -> str:
    """Return the subtype of a marker for a sentence about it."""
    return f"subtype {quote(marker.subtype)}" if marker.subtype is not None else "no subtype"


def has_cut_subtype(line: MarkedLine) -> bool:
    """Tell whether the rest of a value that a colon has cut in two stands where the subtype should."""
    alone = [each for each in line.parts if each.text is None]
    return bool(alone) and alone[0].continues


NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""The syntax of a percentage."""


_UNKNOWN_MARKER_TYPE_KNOWN = NameIndex(CATEGORIES)


@rule(since="0.1", severity=Severity.NOTE, origin=("stage-protocol:marker-unknown-type",))
def stg801_unknown_marker_type(line: MarkedLine) -> Iterator[Finding]:
    """A marker has a type that the protocol does not know.

    ## Why this matters
    Tools that read markers keep such a line but do not understand it: no report shows it, and a misspelt `STAGE` or
    `CHECKPOINT` tells nothing to a program that waits for it. Each type is reported where it first stands in a log.

    ## How to fix
    Use one of the forty types of the protocol, or write the line in another way if it is not meant as a marker: a
    marker is a line that begins with capitals in brackets.
    """
    kind = line.marker.type
    if line.is_first and kind not in CATEGORIES:
        yield Finding(line.at, f"no marker has the type {quote(kind)}{suggest(kind, _UNKNOWN_MARKER_TYPE_KNOWN)}")


_UNKNOWN_STAGE_EVENT_KNOWN = NameIndex(STAGE_SUBTYPES)
_INSTEAD = {
    "status": "; the marker of the end has it: 'status=success'",
    "time": "; the marker of the end has it: 'duration=12s'",
}
"""Markers that scripts for other tools print."""


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-stage-subtype",))
def stg802_unknown_stage_event(line: MarkedLine) -> Iterator[Finding]:
    """A STAGE marker does not say that a stage begins, ends or goes on.

    ## Why this matters

    Whoever follows a run reads `begin`, `end` and `progress`, and passes over everything else. Scripts written for
    other tools print `[STAGE:status:success]` and `[STAGE:time:120]`: what these say is part of the marker of the end.

    ## How to fix

    Write `[STAGE:begin:id=ID]`, `[STAGE:progress:id=ID:pct=50]` or `[STAGE:end:id=ID:status=success:duration=12s]`.
    """
    marker = line.marker_of("STAGE")
    if marker is None or marker.subtype in STAGE_SUBTYPES or has_cut_subtype(line):
        return
    given = marker.subtype or ""
    end = _INSTEAD.get(given) or suggest(given, _UNKNOWN_STAGE_EVENT_KNOWN)
    message = (
        f"a STAGE marker has the subtype 'begin', 'end' or 'progress', but this one has {describe_subtype(marker)}{end}"
    )
    yield Finding(line.at, message)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-stage-id-missing",))
def stg803_marker_without_stage(line: MarkedLine) -> Iterator[Finding]:
    """A STAGE marker does not name its stage by `id=`.

    ## Why this matters

    Without the id nobody can tell which stage begins, ends or goes on, as soon as two stages write to one log. A name
    that stands alone, as in `[STAGE:begin:load_data]`, is read as the id, but other tools do not do so.

    ## How to fix

    Add `id=` with the id of the stage: `[STAGE:begin:id=S01_load_data]`.
    """
    marker = line.marker_of("STAGE", *STAGE_SUBTYPES)
    if marker is None or marker.attributes.get("id"):
        return
    name = marker.positional_stage
    if name is not None:
        yield Finding(line.find(name), f"the stage {quote(name)} is named by position; write {quote(f'id={name}')}")
    else:
        yield Finding(line.at, f"the STAGE marker with {quote(marker.subtype)} has no 'id'")


@rule(since="0.1", origin=("stage-protocol:marker-stage-id-mismatch",))
def stg804_marker_of_another_stage(line: MarkedLine) -> Iterator[Finding]:
    """A stage prints a marker of another stage.

    ## Why this matters

    A process speaks for the stage that it runs and for no other. The marker of another stage is a copy from another
    script most often, and makes the log say that a stage begins or ends which does not. This is checked where the
    running stage is known: with `--stage`, and in runs.

    ## How to fix

    Print the id of the stage that runs. `STAGEC_STAGE_ID` has it.
    """
    marker = line.marker_of("STAGE")
    if marker is not None and marker.stage and line.stage is not None and not marker.is_of(line.stage):
        message = f"the marker names the stage {quote(marker.stage)}, but {quote(line.stage)} is running"
        yield Finding(line.find(marker.positional_stage or "id"), message)


_UNCLEAR_END_STATUS_KNOWN = NameIndex(END_STATUSES)
_WANTED = "'success', 'failed' or 'interrupted'"


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-end-status",))
def stg805_unclear_end_status(line: MarkedLine) -> Iterator[Finding]:
    """The marker of a stage's end does not say how the stage has ended.

    ## Why this matters

    Reports take an end without a status for a success. stagec decides by the process, but `status=failed` counts even
    if the exit status is 0, and a status that nobody understands does not.

    ## How to fix

    Add `status=success`, `status=failed` or `status=interrupted`.
    """
    marker = line.marker_of("STAGE", "end")
    if marker is None:
        return
    status = marker.attributes.get("status")
    if status is None:
        yield Finding(line.at, f"the STAGE marker with 'end' has no 'status', which is {_WANTED}")
    elif status not in END_STATUSES:
        yield Finding(
            line.find("status"),
            f"a stage ends as {_WANTED}, not {quote(status)}{suggest(status, _UNCLEAR_END_STATUS_KNOWN)}",
        )


@rule(since="0.1", severity=Severity.NOTE, origin=("stage-protocol:marker-end-duration",))
def stg806_end_without_duration(line: MarkedLine) -> Iterator[Finding]:
    """The marker of a stage's end does not say how long the stage took.

    ## Why this matters

    The duration is what shows that a stage comes near its limit, long before it exceeds it.

    ## How to fix

    Add `duration=` with the seconds: `[STAGE:end:id=S01_load_data:status=success:duration=12.3s]`.
    """
    marker = line.marker_of("STAGE", "end")
    if marker is not None and not marker.attributes.get("duration") and marker.positional_stage is None:
        yield Finding(line.at, "the STAGE marker with 'end' has no 'duration'")


_MOST = 100


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-progress-pct",))
def stg807_invalid_progress(line: MarkedLine) -> Iterator[Finding]:
    """The marker of a stage's progress has no message, or no percentage between 0 and 100.

    ## Why this matters

    A display of progress can show nothing for such a marker, or shows nonsense. The protocol requires both attributes.

    ## How to fix

    Write `pct=` with a number between 0 and 100, without `%`, and `msg=` with a short text without `:` and `]`. Longer
    text belongs behind the bracket.
    """
    marker = line.marker_of("STAGE", "progress")
    if marker is None:
        return
    missing = [name for name in ("pct", "msg") if name not in marker.attributes]
    if missing:
        yield Finding(line.at, f"the STAGE marker with 'progress' has no {listing(missing, 'and no')}")
    given = marker.attributes.get("pct")
    if given is not None and (NUMBER.fullmatch(given) is None or not 0 <= float(given) <= _MOST):
        yield Finding(line.find("pct"), f"'pct' is a number between 0 and 100, not {quote(given)}")


_UNKNOWN_CHECKPOINT_EVENT_KNOWN = NameIndex(CHECKPOINT_SUBTYPES)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-checkpoint-subtype",))
def stg808_unknown_checkpoint_event(line: MarkedLine) -> Iterator[Finding]:
    """A CHECKPOINT marker does not say what happens to the checkpoint.

    ## Why this matters

    Whoever follows a run reads `saved`, `begin`, `end` and `emergency`, and passes over everything else: the
    checkpoint is not seen.

    ## How to fix

    Write `[CHECKPOINT:saved:id=CHECKPOINT:stage=ID]`, or one of the other three subtypes.
    """
    marker = line.marker_of("CHECKPOINT")
    if marker is None or marker.subtype in CHECKPOINT_SUBTYPES or has_cut_subtype(line):
        return
    wanted = listing(CHECKPOINT_SUBTYPES, "or")
    end = suggest(marker.subtype or "", _UNKNOWN_CHECKPOINT_EVENT_KNOWN)
    yield Finding(
        line.at, f"a CHECKPOINT marker has the subtype {wanted}, but this one has {describe_subtype(marker)}{end}"
    )


_INCOMPLETE_CHECKPOINT_MARKER_KNOWN = NameIndex(REASONS)
_NEEDED = {"saved": ("id", "stage"), "end": ("id", "status"), "emergency": ("id", "reason")}


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-checkpoint-attrs",))
def stg809_incomplete_checkpoint_marker(line: MarkedLine) -> Iterator[Finding]:
    """A CHECKPOINT marker lacks a required attribute, or has an unknown reason.

    ## Why this matters

    Without the id nobody finds the checkpoint. A saved one also needs its stage, and the end of one its status. One
    that was written in an emergency needs the reason, on which it depends whether the stage may start again.

    ## How to fix

    Add `id=` to every marker, `stage=` to those of saved checkpoints, `status=success` or `status=failed` to those of
    ends, and `reason=timeout`, `reason=abort` or `reason=error` to those of emergencies. `watchdog_timeout` and
    `manual_abort` are understood too.
    """
    marker = line.marker_of("CHECKPOINT", *CHECKPOINT_SUBTYPES)
    if marker is None:
        return
    missing = [name for name in _NEEDED.get(marker.subtype or "", ("id",)) if not marker.attributes.get(name)]
    if missing:
        yield Finding(
            line.at, f"the CHECKPOINT marker with {quote(marker.subtype)} has no {listing(missing, 'and no')}"
        )
    reason = marker.attributes.get("reason")
    if reason and reason not in REASONS:
        meant = suggest(reason, _INCOMPLETE_CHECKPOINT_MARKER_KNOWN)
        message = f"the reason is 'timeout', 'abort' or 'error', not {quote(reason)}{meant}"
        yield Finding(line.find("reason"), message)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-rehydrated-from",))
def stg810_rehydration_without_source(line: MarkedLine) -> Iterator[Finding]:
    """A REHYDRATED marker does not name the checkpoint that the run continues from.

    ## Why this matters

    The marker exists to say which checkpoint a run continues from. Without it the log does not show which results are
    from an earlier run.

    ## How to fix

    Add `from=` with the id of the checkpoint: `[REHYDRATED:from=ckpt-S01_load_data]`.
    """
    marker = line.marker_of("REHYDRATED")
    if marker is not None and not marker.attributes.get("from"):
        yield Finding(line.at, "the REHYDRATED marker has no 'from'")


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-value-unsafe",))
def stg811_cut_marker_value(line: MarkedLine) -> Iterator[Finding]:
    """The value of an attribute has a colon or a bracket in it and is cut there.

    ## Why this matters

    Every `:` separates attributes, and the first `]` ends the marker; nothing can escape them. The rest of the value
    becomes an attribute of its own, or text behind the marker, and readers see the first part only. Times, addresses
    and paths with a drive are cut most often.

    ## How to fix

    Put free text behind the bracket: `[STAGE:progress:id=ID:pct=50] Loading rows: 50 of 100`. Write other values
    without `:`, `[` and `]`.
    """
    if line.marker.type not in CATEGORIES:
        return
    for first, last in _find_values(line.parts):
        end = ":" if first is not last else "]" if "[" in (first.text or "") else ""
        if end:
            message = f"the value of {quote(first.name)} ends at its first '{end}' and is read as {quote(first.text)}"
            yield Finding(line.place(first, last), message)


def _find_values(parts: tuple[MarkerPart, ...]) -> Iterator[tuple[MarkerPart, MarkerPart]]:
    """Yield the first and the last part of every value, as it was most likely meant."""
    values: list[list[MarkerPart]] = []
    for each in parts:
        if each.continues:
            values[-1].append(each)
        elif each.text is not None:
            values.append([each])
    return ((found[0], found[-1]) for found in values)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-duplicate-attr",))
def stg812_repeated_marker_attribute(line: MarkedLine) -> Iterator[Finding]:
    """A marker gives an attribute twice.

    ## Why this matters

    The later value counts, whatever the first one says; other readers may take the first.

    ## How to fix

    Remove one of them.
    """
    seen: set[str] = set()
    for each in line.parts if line.marker.type in CATEGORIES else ():
        if each.text is None or each.continues:
            continue
        if each.name in seen:
            yield Finding(line.place(each), f"the attribute {quote(each.name)} is given again, and this value counts")
        seen.add(each.name)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-bare-attr",))
def stg813_bare_marker_attribute(line: MarkedLine) -> Iterator[Finding]:
    """A part of a marker has no value.

    ## Why this matters

    The first part without `=` is the subtype. Each further one becomes an attribute with an empty value, which no
    reader asks for.

    ## How to fix

    Write `name=value`, or remove the part. A colon too many makes an empty part.
    """
    marker = line.marker
    if not isinstance(marker, Marker) or marker.type not in CATEGORIES or has_cut_subtype(line):
        return
    unnamed = marker.type == "STAGE" and not marker.attributes.get("id")
    if unnamed or marker.subtype not in (SUBTYPES.get(marker.type) or (marker.subtype,)):
        return  # rules about the id and the subtype say what is wrong
    alone = [each for each in line.parts if each.text is None]
    for each in alone[1:]:
        if not each.continues:
            what = f"{quote(each.name)} has no value" if each.name else "a part is empty"
            yield Finding(line.place(each), f"{what}; behind the subtype a marker has attributes such as 'id=ID'")


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-value-unsafe",))
def stg814_broken_marker(line: MarkedLine) -> Iterator[Finding]:
    """A line begins like a marker and is none.

    ## Why this matters

    A marker is one line: `[`, a type, attributes without `]`, and `]`. If the closing bracket is missing, because a
    value has a line feed in it, or if a carriage return stands in the text behind it, readers see an ordinary line: a
    stage that has ended does not seem to end.

    ## How to fix

    Print the marker in one piece, without line feeds and carriage returns in it, and end the line behind it. Progress
    bars that return to the beginning of the line belong on another stream.
    """
    if isinstance(line.marker, BrokenMarker):
        yield Finding(line.at, f"the line begins like a {line.marker.type} marker, but {_explain(line.marker)}")


def _explain(marker: BrokenMarker) -> str:
    if "]" not in marker.text:
        return "has no ']'"
    if "\r" in marker.text.partition("]")[2]:
        return "a carriage return stands behind its ']'"
    return "its brackets do not contain a type and attributes"
