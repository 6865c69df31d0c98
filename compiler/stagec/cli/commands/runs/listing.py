"""The runs of a folder, a line each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stagec.cli.running.programs import program_in
from stagec.cli.running.runs import Runs, name_of
from stagec.cli.running.tabular import table
from stagec.cli.running.telling import written
from stagec.cli.streams import canvas, put
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.visible import visible
from stagec.core.words import counted, shortened
from stagec.drivers.local import JournalError, Reason, read_journal
from stagec.drivers.local.replaying import fold


@value
class Standing:
    """How a run stands: `done`, `failed`, `interrupted`, `not begun`, `running`, or why its journal cannot be used.

    Of a run that is executed by somebody, and of one whose journal cannot be used, nothing else is known.
    """

    run: str
    status: str
    reason: str = ""
    plan: str | None = None
    digest: str | None = None
    executions: int | None = None
    events: int | None = None


def show(folder: Path, output_format: str) -> None:
    """Print how the runs in a folder stand."""
    found = [standing(path) for path in Runs(folder)]
    if output_format == "json":
        put(written({"runs": [_plain(each) for each in found]}, 2) + "\n")
        return
    paper = canvas(sys.stdout, os.environ)
    put(table(paper, [_cells(each) for each in found]))
    put(f"{counted(len(found), 'run')} in {visible(str(folder), paper.encoding)}\n" if not found else "")


def standing(path: Path) -> Standing:
    """Return how a run stands; nothing that is wrong with its file is raised."""
    try:
        history = read_journal(path)
        program = program_in(history.plan, "its plan")
    except JournalError as error:
        told = "" if error.reason is Reason.BUSY else str(error)
        return Standing(name_of(path), str(error.reason), told)
    except Failure as failure:
        return Standing(name_of(path), str(Reason.UNUSABLE), str(failure))
    state = fold(program, history.events)
    status = str(state.ended or ("interrupted" if history.events else "not begun"))
    counts = (state.executions, len(history.events))
    return Standing(name_of(path), status, state.reason, program.plan.id, program.digest, *counts)


def _cells(each: Standing) -> tuple[str, ...]:
    counts = "" if each.executions is None else counted(each.executions, "execution")
    events = "" if each.events is None else counted(each.events, "event")
    return each.run, each.plan or "", shortened(each.digest or ""), each.status, counts, events, each.reason


def _plain(each: Standing) -> dict[str, str | int | None]:
    named = ("run", "plan", "digest", "status", "reason", "executions", "events")
    return {name: getattr(each, name) for name in named}
