"""Take up a run from an earlier place: in its own journal, or as a new run with the same past."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from stagec.cli.running.inputs import load_program
from stagec.cli.running.report import format_json
from stagec.cli.running.stages import has_stages
from stagec.cli.streams import find_canvas, put
from stagec.cli.tables import draw_columns
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.core.words import format_count, quote, visible
from stagec.drivers.history import History
from stagec.drivers.replay import RunPlace, fold_events, list_places
from stagec.runtime import Program
from stagec.runtime.exchange import Rewound

FORKED = "forked"
"""The fact of a journal that names the run that it was forked from, and how many events it has of that run."""


def find_rewind(run: str, history: History, given: str) -> Rewound:
    """Return the event that takes a run back to NODE or NODE#VISIT; without a number, to the last visit."""
    found = read_places(run, history)
    matching = [each for each in found if given in {each.node, _label(each)}]
    if matching:
        return Rewound(matching[-1].to)
    nodes = {each.node for each in found}
    node, _, number = given.rpartition("#")
    known = [_label(each) for each in found if each.node == node] if number.isdigit() and node in nodes else []
    told = f"there are {', '.join(known)}" if known else f"'stagec runs show {run} --places' lists the places"
    raise Failure(f"run {quote(run)} cannot be taken back to {quote(given)}: {told}")


def read_places(run: str, history: History) -> list[RunPlace]:
    """Return the places of a run; raise `Failure` for a run of stages, which has none."""
    return list_places(_load_begun(run, history), history.events)


def _load_begun(run: str, history: History) -> Program:
    program = load_program(history.plan, f"the plan of run {quote(run)}")
    if has_stages(program.plan):
        raise Failure(
            f"run {quote(run)} is one of a stage plan, which continues from its published outputs and checkpoints: "
            f"it cannot be taken back or forked; 'stagec resume {run}' runs again what is not complete"
        )
    return program


def cut_history(run: str, history: History, rewind: Rewound | None) -> History:
    """Return the past of a fork: the events before a place, or all of them if the run has not ended."""
    if rewind is None and fold_events(_load_begun(run, history), history.events).ended is not None:
        raise Failure(f"run {quote(run)} has ended: --fork needs --from, which names the place to continue from")
    count = len(history.events) if rewind is None else rewind.to
    return replace(
        history,
        events=history.events[:count],
        step_digests=history.step_digests[:count],
        times=history.times[:count],
        facts={**history.facts, FORKED: f"{run}@{count}"},
    )


def show_places(run: str, history: History, output_format: str) -> None:
    """Print the places of a run that `resume --from` takes."""
    found = read_places(run, history)
    if output_format == "json":
        places = [{"place": _label(each), "node": each.node, "visit": each.visit, "events": each.to} for each in found]
        put(format_json({"run": run, "places": places}, 2) + "\n")
        return
    put(_draw_places(found) or f"no places in {visible(run)}\n")


def _draw_places(found: Sequence[RunPlace]) -> str:
    rows = [(_label(each), f"after {format_count(each.to, 'event')}") for each in found]
    return draw_columns(find_canvas(sys.stdout, os.environ), rows)


def _label(place: RunPlace) -> str:
    return f"{place.node}#{place.visit}"
