"""The id of a run and the title of a report, as a plan gives them: both are names of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.protocol.artifact_paths import find_segment_fault

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
