"""What has happened in a run, event by event."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from stagec.cli.running.programs import program_in
from stagec.cli.running.runs import Runs, name_of, read
from stagec.cli.running.summary import answered, asked, request_label
from stagec.cli.running.tabular import table
from stagec.cli.running.telling import Wording
from stagec.cli.running.unobeyed import unobeyed
from stagec.cli.streams import canvas, put
from stagec.core.visible import visible
from stagec.core.words import counted, quote, shortened
from stagec.drivers.local import History
from stagec.drivers.local.replaying import fold, steps
from stagec.runtime import Answered, Event, Program, State


def show(run: str, folder: Path) -> None:
    """Print the history of a run."""
    path = Runs(folder).find(run)
    history = read(path)
    program = program_in(history.plan, f"the plan of run {quote(name_of(path))}")
    paper = canvas(sys.stdout, os.environ)
    wording = Wording(program.plan, paper)
    state = fold(program, history.events)
    name = unobeyed(visible(f"{name_of(path)}: {program.plan.id}", paper.encoding))
    title = f"{name}, {shortened(program.digest)}"
    events = counted(len(history.events), "event")
    put(f"{title}\n{table(paper, list(_rows(program, history, wording)))}{wording.ending(state)}, {events}\n")


def _rows(program: Program, history: History, wording: Wording) -> Iterator[tuple[str, ...]]:
    """Yield a row for each event, and one for each further execution that it ended."""
    before = State()
    for seq, (event, step) in enumerate(steps(program, history.events)):
        who, what, answer = _told(before, event)
        moves = [wording.led(move) for move in step.moves]
        before = step.state
        yield f"{seq:>3}", who, what, answer, moves[0] if moves else ""
        yield from (("", "", "", "", move) for move in moves[1:])


def _told(state: State, event: Event) -> tuple[str, str, str]:
    """Return who was asked for what, and the answer."""
    effect = state.pending.get(event.key) if isinstance(event, Answered) else None
    if isinstance(event, Answered) and effect is not None:
        return request_label(event.key), asked(effect), answered(effect, event.answer)
    return "", type(event).__name__.lower(), ""
