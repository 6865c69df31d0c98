"""Marks in a drawing that show the status of the nodes in a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stagec.cli.running.inputs import load_program
from stagec.cli.running.runs import Runs, name_of, read_run
from stagec.cli.running.stages import has_stages
from stagec.core.value import replace, value
from stagec.core.words import format_count, quote
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.following import find_standing
from stagec.runtime.drivers.local import History
from stagec.runtime.drivers.local.stage_ledger import list_stages
from stagec.runtime.drivers.replay import fold_events, fold_run
from stagec.runtime.machine import Program
from stagec.views.emitters import Picture
from stagec.views.picture.document import box_of

_SIGNS: Mapping[str, str] = {
    StageStatus.COMPLETED: "✓ ",
    StageStatus.FAILED: "✗ ",
    StageStatus.BLOCKED: "✗ ",
    StageStatus.INTERRUPTED: "⚠ ",
    StageStatus.RESUMABLE: "⚠ ",
}
"""Signs before statuses, so that they are seen at a glance."""


@value
class DrawnRun:
    """A run to be shown: its name, its program now and the first one, its history, and whether somebody executes it."""

    name: str
    program: Program
    begun: Program
    history: History
    is_executed: bool


def read_drawn_run(run: str, folder: Path) -> DrawnRun:
    """Return a stored run."""
    path = Runs(folder).find(run)
    stored = read_run(path)
    begun = load_program(stored.history.plan, f"the plan of run {quote(name_of(path))}")
    program, _ = fold_run(begun, stored.history.events)
    return DrawnRun(name_of(path), program, begun, stored.history, stored.is_executed)


def mark_run(picture: Picture, run: DrawnRun) -> Picture:
    """Return a drawing that shows how each node stands in a run."""
    state = fold_events(run.begun, run.history.events)
    if has_stages(run.program.plan):
        rows = list_stages(run.begun, run.history.events, is_executed=run.is_executed)
        notes = {each.stage: (_describe(each.status, each.format_seconds()),) for each in rows}
    else:
        notes = {name: (format_count(each.visits, "execution"),) for name, each in state.past.items()}
    standing = find_standing(state, is_executed=run.is_executed)
    told = f"{standing}: {state.reason}" if state.ended is not None else standing
    own = {box_of(name): each for name, each in notes.items()}
    marked = {name: replace(box, notes=(*box.notes, *own.get(name, ()))) for name, box in picture.boxes.items()}
    return replace(replace(picture, boxes=marked), remarks=(*picture.remarks, f"run {run.name}, {told}"))


def _describe(status: str, seconds: str) -> str:
    told = f"{_SIGNS.get(status, '')}{status.lower()}"
    return f"{told}, {seconds}" if seconds else told
