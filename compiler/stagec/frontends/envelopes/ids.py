"""What is wrong with the ids of a plan's stages, and which stages have one number or one id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.place import Place
from stagec.frontends.envelopes.document import Envelope, StagePlan
from stagec.protocol.stage_ids import StageId, StageIdFault, read_stage_id

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
    """Return where the stage may say its id that a name means which no stage has.

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
    """Return where ids are written that are in error, by what stands before their first underscore."""
    found: dict[str, tuple[Place, ...]] = {}
    for each, _ in find_id_faults(plan, *_FATAL):
        number = (each.id or "").partition("_")[0]
        found[number] = (*found.get(number, ()), each.id_at)
    return found
