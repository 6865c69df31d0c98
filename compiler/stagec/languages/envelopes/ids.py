"""Ids of stages, names of runs and durations: how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.protocol.artifact_paths import find_segment_fault
from stagec.ir.protocol.stage_ids import StageId, StageIdFault, read_stage_id
from stagec.languages.envelopes.document import Envelope, StagePlan

_FATAL = frozenset(
    {
        StageIdFault.FORMAT,
        StageIdFault.TOO_LONG,
        StageIdFault.SEQUENCE_ZERO,
        StageIdFault.MISSING_VERB,
        StageIdFault.MEANINGLESS,
    }
)
"""The faults that are errors: what depends on the stage may name it by the id that it should have."""
NO_ID = StageId("")
"""What stands for the id of an envelope that has none."""


def read_ids(plan: StagePlan) -> tuple[StageId, ...]:
    """Return the id of each envelope, in the order of the plan; one that has none has an empty id without faults."""
    return plan.memo.once(
        "ids", lambda: tuple([NO_ID if each.id is None else read_stage_id(each.id) for each in plan.envelopes])
    )


def find_id_faults(plan: StagePlan, *faults: StageIdFault) -> Iterator[tuple[Envelope, StageId]]:
    """Yield the envelopes whose id has one of some faults."""
    pairs = zip(plan.envelopes, read_ids(plan), strict=True)
    faulty = plan.memo.once("faulty ids", lambda: [(each, found) for each, found in pairs if found.faults])
    return ((each, found) for each, found in faulty if not set(faults).isdisjoint(found.faults))


def number_stages(plan: StagePlan) -> Mapping[str, int]:
    """Return the number of each stage by its id: 0 of one whose id has another form."""
    pairs = zip(plan.envelopes, read_ids(plan), strict=True)
    return plan.memo.once("numbers", lambda: {each.id: found.number for each, found in pairs if each.id is not None})


def find_repeated_ids(plan: StagePlan) -> tuple[Envelope, ...]:
    """Return the envelopes whose id an earlier one has."""
    repeated = (each for each in plan.envelopes if each.id is not None and plan.by_id.get(each.id) is not each)
    return plan.memo.once("repeated", lambda: tuple(repeated))


def find_meant_stage(plan: StagePlan, name: str) -> str | None:
    """Return the id that a name was most likely meant to be: one slip away, or the only one with its number or words.

    Ids resemble each other too much for anything else: they begin alike, and often share a verb or a noun.
    """
    slip = plan.names.slip(name)
    if slip is not None:
        return slip
    number, mark, words = name.partition("_")
    by_words = plan.memo.once("words", lambda: _group_by_words(plan))
    groups = (plan.by_number.get(number, ()), by_words.get(words, ())) if mark else ()
    return next((group[0] for group in groups if len(group) == 1), None)


def list_suspects(plan: StagePlan, name: str) -> tuple[Place, ...]:
    """Return the places of the ids that a wrong name probably means.

    That is every id that stands twice, the one that was most likely meant, and the wrong ones with the same number.
    """
    near = plan.by_id.get(find_meant_stage(plan, name) or "")
    wrong = plan.memo.once("wrong", lambda: _group_wrong(plan))
    repeated = (each.id_at for each in find_repeated_ids(plan))
    return *repeated, *(() if near is None else (near.id_at,)), *wrong.get(name.partition("_")[0], ())


def _group_by_words(plan: StagePlan) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in plan.by_id:
        found.setdefault(name.partition("_")[2], []).append(name)
    return {words: tuple(names) for words, names in found.items()}


def _group_wrong(plan: StagePlan) -> Mapping[str, tuple[Place, ...]]:
    """Return the places of wrong ids, by the part before their first underscore."""
    found: dict[str, tuple[Place, ...]] = {}
    for each, _ in find_id_faults(plan, *_FATAL):
        number = (each.id or "").partition("_")[0]
        found[number] = (*found.get(number, ()), each.id_at)
    return found


_RUN = re.compile(r"run-(?:[0-9]{8}-[0-9]{6}|[0-9]{3})")
_TITLE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = frozenset({"checkpoints", "staging", "queue"})


@value
class RunName:
    """One of the two, where it stands, and what is to be said of it."""

    at: Place
    sentence: str


def find_odd_names(plan: StagePlan) -> Iterator[RunName]:
    """Yield the names that are not written as the protocol shows them."""
    if plan.run_id is not None and _RUN.fullmatch(plan.run_id) is None:
        message = f"run id {quote(plan.run_id)} is not written like 'run-20260102-143022' or 'run-001'"
        yield RunName(plan.root / "runId", message)
    if plan.title is not None and _TITLE.fullmatch(plan.title) is None:
        message = f"report title {quote(plan.title)} is not in small letters and hyphens, such as 'wine-quality'"
        yield RunName(plan.root / "reportTitle", message)


def find_unusable_names(plan: StagePlan) -> Iterator[RunName]:
    """Yield the names that cannot be those of folders, or that the protocol uses itself."""
    for member, what, name in (("runId", "run id", plan.run_id), ("reportTitle", "report title", plan.title)):
        fault = None if name is None else find_segment_fault(name)
        if fault is not None:
            yield RunName(plan.root / member, f"{what} {quote(name)} {fault.words}")
    if plan.run_id in _RESERVED:
        message = f"run id {quote(plan.run_id)} is reserved: the protocol has a folder of this name"
        yield RunName(plan.root / "runId", message)


def find_durations(plan: StagePlan, fits: Callable[[float], bool]) -> Iterator[tuple[Place, float]]:
    """Yield every duration, in seconds, that is written, is a number and is what is asked for, with its place."""
    durations = plan.memo.once("durations", lambda: list(_list_durations(plan)))
    judged = {duration: fits(duration) for duration in {each for _, each in durations}}
    return ((stage.at / "maxDurationSec", duration) for stage, duration in durations if judged[duration])


def _list_durations(plan: StagePlan) -> Iterator[tuple[Envelope, float]]:
    for stage in plan.envelopes:
        given = stage.members.get("maxDurationSec")
        if isinstance(given, int | float) and not isinstance(given, bool):
            yield stage, given
