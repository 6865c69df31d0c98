"""Go on with a run until it ends, is interrupted, or the world has no answer; nothing of it is lost."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from shlex import join

from stagec.cli.progress import progress
from stagec.cli.running.failing import failed
from stagec.cli.running.options import FOLDER
from stagec.cli.running.runs import name_of
from stagec.cli.running.summary import request_label
from stagec.cli.running.telling import Teller
from stagec.cli.streams import canvas, say
from stagec.core.columns import columns
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.visible import visible
from stagec.drivers.local import Journal, JournalError, RunSession, World, proceed, restore
from stagec.plan.node import Outcome
from stagec.runtime import Effect, Event, Program, State
from stagec.runtime.exchange import Hook, Run, Shell, Wait


@value
class Table:
    """Who sits at it: a run's file, its journal and program, the world that answers, and who tells of it."""

    path: Path
    journal: Journal
    program: Program
    world: World
    teller: Teller


def sit(table: Table, event: Event | None) -> Exit:
    """Go on with a run, beginning with an event if one has just happened; return the exit status it deserves."""
    gc.enable()  # unlike other commands, this one may take long
    try:
        state = _proceeded(table, event)
    except KeyboardInterrupt:
        say(f"stagec: {_kept(table.path)}")
        raise
    except Failure as failure:
        raise Failure(f"{failure}\n{_kept(table.path)}", failure.status) from failure
    except JournalError as error:
        raise failed(name_of(table.path), error) from error
    finally:
        table.journal.close()
    table.teller.conclude(state)
    return status_of(state)


def _proceeded(table: Table, event: Event | None) -> State:
    state = restore(table.program, table.journal.history, table.teller.recall)
    return proceed(RunSession(table.program, table.journal, Shown(table.world), table.teller.observe), state, event)


def status_of(state: State) -> Exit:
    """Return the exit status that the end of a run deserves."""
    return Exit.CLEAN if state.ended is Outcome.DONE else Exit.FINDINGS


def _kept(path: Path) -> str:
    """Return a sentence with the command that goes on with a run."""
    folder = () if path.parent == FOLDER else ("--runs", str(path.parent))
    return f"the run is kept; this goes on with it: {join(('stagec', 'resume', name_of(path), *folder))}"


class Shown:
    """A world that says on a terminal who takes so long."""

    def __init__(self, world: World) -> None:
        self._world = world

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        with progress(_line(effect) if sys.stderr.isatty() else ""):
            return self._world.answer(effect)


def _line(effect: Effect) -> str:
    """Return who takes so long, on one line of a terminal: a longer one could not be wiped out again."""
    paper = canvas(sys.stderr, os.environ)
    doing, name = f"{_doing(effect)} …", request_label(effect.key)[:_LONGEST]
    while name and paper.width and columns(visible(f"{name} {doing}", paper.encoding)) >= paper.width:
        name = name[:-1]
    return visible(f"{name} {doing}", paper.encoding)


_LONGEST = 50
"""Characters of the name of an execution that are shown at most."""


def _doing(effect: Effect) -> str:
    match effect:
        case Run() | Shell():
            return "runs a command"
        case Hook():
            return "calls a hook"
        case Wait():
            return f"waits {effect.milliseconds / 1000:g} s"
        case _:
            return "waits for an answer"
