"""A run as JSON, for programs."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.running.programs import program_in
from stagec.cli.running.runs import Runs, name_of, read
from stagec.cli.running.telling import written
from stagec.cli.streams import put
from stagec.core.json import object_of
from stagec.core.words import quote
from stagec.drivers.local.events import body_of
from stagec.drivers.local.replaying import fold


def export(run: str, folder: Path) -> None:
    """Print a run: nothing in it depends on when and where it was run."""
    path = Runs(folder).find(run)
    history = read(path)
    program = program_in(history.plan, f"the plan of run {quote(name_of(path))}")
    state = fold(program, history.events)
    events = [{"seq": seq, **object_of(body_of(each))} for seq, each in enumerate(history.events)]
    told = {
        "run": name_of(path),
        "plan": program.plan.id,
        "digest": program.digest,
        "outcome": None if state.ended is None else str(state.ended),
        "reason": state.reason,
        "events": events,
    }
    put(written(told, 2) + "\n")
