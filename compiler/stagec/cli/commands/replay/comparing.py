"""Work a run out again, and say whether it went the same way."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.running.programs import program_in
from stagec.cli.running.runs import Runs, name_of, read
from stagec.cli.streams import put
from stagec.core.failure import Exit
from stagec.core.visible import visible
from stagec.core.words import counted, quote
from stagec.drivers.local import History
from stagec.drivers.local.events import key_of
from stagec.drivers.local.replaying import Difference, replayed
from stagec.runtime import State

_WHAT = {"what": "asks for or tells something else", "state": "leads to another state"}


def compare(run: str, folder: Path) -> Exit:
    """Print whether a replay of a run equals the run, and return the exit status that this deserves."""
    path = Runs(folder).find(run)
    history = read(path)
    named = f"the plan of run {quote(name_of(path))}"
    found = replayed(program_in(history.plan, named), program_in(history.plan, named), history)
    put(f"{_told(history, found)}\n")
    return Exit.FINDINGS if isinstance(found, Difference) else Exit.CLEAN


def _told(history: History, found: State | Difference) -> str:
    if isinstance(found, Difference):
        key = visible(key_of(history.events[found.seq]))
        return f"different: event {found.seq}, {key}, {_WHAT[found.what]} than when it happened"
    counts = f"{counted(len(history.events), 'event')}, {counted(found.executions, 'execution')}"
    ended = "not ended" if found.ended is None else f"{found.ended}: {visible(found.reason)}"
    return f"equal: {counts}, {ended}"
