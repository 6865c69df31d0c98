"""Inputs that are files of the project, and lie where the same run writes what its stages make."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from enum import StrEnum

from stagec.core.value import value
from stagec.frontends.envelopes.document import Envelope, InputKind, StageInput, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.frontends.envelopes.order import find_precedence

_REPORTS = "reports"
_DEPTH = 4
"""Folders above what a stage writes: of all reports, of the report, of the run, of the stage."""


class WriteTime(StrEnum):
    """When what a stage reads is written."""

    BEFORE = "before the stage begins"
    CONCURRENT = "while the stage may run"
    OWN = "by the stage itself"
    LATER = "after the stage has ended"


@value
class OwnRead:
    """An input that leads into the folder of a stage of the same run, by its path from the root of the project.

    `output` is the output of that stage with this path, if there is one.
    """

    stage: Envelope
    given: StageInput
    writer: Envelope
    output: str | None
    time: WriteTime


def find_own_reads(plan: StagePlan, time: WriteTime) -> Iterator[OwnRead]:
    """Yield the inputs that are written at some time; nothing is known of stages that wait for each other."""
    found = plan.memo.once("own reads", lambda: tuple(_list_own_reads(plan)))
    return (each for each in found if each.time is time)


def _list_own_reads(plan: StagePlan) -> Iterator[OwnRead]:
    reads = [] if plan.alone or plan.title is None or plan.run_id is None else [*_list_reads(plan)]
    order = find_precedence(plan) if reads else None
    if order is None:
        return
    index = {each.at: place for place, each in enumerate(plan.envelopes)}
    pairs = [(index[stage.at], index[writer.at]) for stage, _, writer in reads]
    concurrent = set(order.find_concurrent(pairs))
    # those pairs of which the first has to end before the second begins
    places = {node: place for place, node in enumerate(order.order)}
    later = {(one, other) for one, other in pairs if places[one] < places[other]}
    for pair, (stage, given, writer) in zip(pairs, reads, strict=True):
        time = WriteTime.CONCURRENT if pair in concurrent else WriteTime.LATER if pair in later else WriteTime.BEFORE
        below = _fold(posixpath.normpath(given.path)).split("/", _DEPTH)[-1]
        same = (name for name, path in writer.outputs.items() if _fold(path) == below)
        yield OwnRead(stage, given, writer, next(same, None), WriteTime.OWN if pair[0] == pair[1] else time)


def _list_reads(plan: StagePlan) -> Iterator[tuple[Envelope, StageInput, Envelope]]:
    """Yield the inputs whose paths lead into the folder of a stage, as a file system may read them."""
    inside = f"{_fold(posixpath.join(_REPORTS, plan.title or '', plan.run_id or ''))}/"
    stages = {_fold(name): each for name, each in plan.by_id.items()}
    for stage, given in list_inputs(plan, InputKind.FILE):
        path = _fold(posixpath.normpath(given.path))
        writer = stages.get(path.removeprefix(inside).partition("/")[0]) if path.startswith(inside) else None
        if writer is not None:
            yield stage, given, writer


def _fold(path: str) -> str:
    """Return what file systems compare that know no case, and write accents as they like."""
    from unicodedata import normalize  # plans of stages only

    return normalize("NFC", normalize("NFC", path).casefold())
