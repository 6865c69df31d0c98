"""Report the progress of a run: a line for every execution for people, a line of JSON for every event for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Protocol

from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Exit
from stagec.core.terminal import Canvas, Paint, Style, columns
from stagec.core.words import escape_ci_commands, format_count, shorten_digest, visible
from stagec.ir.plan import Plan
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Event, Move, State, StepResult
from stagec.runtime.machine.exchange import (
    label_execution,
)

_WIDEST = 32
"""Columns of the names of nodes; names may have any length."""
_INDENT = "  "
"""The text before the executions of an agent's run."""
_MOST = 6
"""Nodes that are named of those that a line leads to."""


class RunReporter(Protocol):
    """Receives every event of a run, also those of earlier sessions, and reports how the run ended."""

    def recall(self, event: Event, step: StepResult) -> None:
        """Take note of an event of an earlier session."""

    def observe(self, event: Event, step: StepResult) -> None:
        """Report an event that has just happened."""

    def conclude(self, state: State) -> None:
        """Report how the run has ended."""

    def tell(self, stage: str, sentence: str) -> None:
        """Report what happens to a stage and changes nothing; in any thread."""

    def show(self, stage: str, percent: float, text: str) -> None:
        """Take note of how far a stage says that it is; in any thread."""

    def close(self) -> None:
        """Leave a terminal as it was."""


class _QuietReporter:
    """The common part of reporters that draw nothing."""

    def tell(self, stage: str, sentence: str) -> None:
        """Say it to people."""
        say(f"stagec: {stage}: {sentence}")

    def show(self, _stage: str, _percent: float, _text: str) -> None:
        """Keep nothing of it."""

    def close(self) -> None:
        """Leave everything as it is."""


class LineReporter(_QuietReporter):
    """Reports to people: one line for each execution, and how the run has ended."""

    def __init__(self, plan: Plan) -> None:
        self._paper = find_canvas(sys.stdout, os.environ)
        self._events = 0
        self._formatter = RunFormatter(plan, self._paper)

    def recall(self, _event: Event, _step: StepResult) -> None:
        """Count silently."""
        self._events += 1

    def observe(self, _event: Event, step: StepResult) -> None:
        """Print a line for each execution that is over."""
        self._events += 1
        for move in step.moves:
            put(f"{self._formatter.move(move)}\n")

    def conclude(self, state: State) -> None:
        """Print the last line."""
        put(f"{self._formatter.ending(state)}, {format_count(self._events, 'event')}\n")


class EventReporter(_QuietReporter):
    """Reports to programs: one object for each trace event, numbered through the whole run, without any time."""

    def __init__(self) -> None:
        self._count = 0

    def recall(self, _event: Event, step: StepResult) -> None:
        """Count on."""
        self._count += len(step.trace)

    def observe(self, _event: Event, step: StepResult) -> None:
        """Print the trace events."""
        put("".join(self._lines(step)))

    def conclude(self, _state: State) -> None:
        """Print nothing: the last trace event says it."""

    def _lines(self, step: StepResult) -> Iterator[str]:
        for each in step.trace:
            self._count += 1
            record = {"seq": self._count, "event": each.name, **each.facts}
            yield format_json(record) + "\n"


def format_json(given: object, indent: int | None = None) -> str:
    """Return a value as JSON in ASCII, in which no build service finds a command."""
    separators = (",", ":") if indent is None else None
    return json.dumps(given, indent=indent, separators=separators).replace("##", "#\\u0023")


class RunFormatter:
    """How executions and ends of runs are written on some paper."""

    def __init__(self, plan: Plan, paper: Canvas) -> None:
        self._paper = paper
        self._paint = Paint(paper.colour)
        self._width = min(_WIDEST, max(columns(escape_ci_commands(self._format(each))) for each in plan.nodes) + 2)
        self._arrow = "→" if self._format("→") == "→" else "->"

    def move(self, move: Move) -> str:
        """Return `check#2   ok → repair`."""
        name = escape_ci_commands(self._format(label_execution(move.node, move.visit)))
        name = f"{_INDENT}{name}" if move.run else name
        blanks = " " * (self._width - columns(name))
        outcome = self._format(move.outcome)
        return f"{name}{blanks}  {outcome} {self._lead(move)}".rstrip(" ")

    def format_move(self, move: Move) -> str:
        """Return `ok → repair`."""
        return f"{move.outcome} {self._lead(move)}".strip(" ")

    def format_inner_move(self, move: Move) -> str:
        """Return a move with the execution that it ends, if an agent's: `check: ok → repair`."""
        named = f"{label_execution(move.node, move.visit)}: " if move.run else ""
        return f"{named}{self.format_move(move)}"

    def ending(self, state: State, *, is_executed: bool = False) -> str:
        """Return `done: completed, 4 executions`, or `not ended, 1 execution`, or `running, 1 execution`."""
        counts = format_count(state.executions, "execution")
        if state.ended is None:
            return f"{'running' if is_executed else 'not ended'}, {counts}"
        ended, style = str(state.ended), Style.MESSAGE if state.ended is Outcome.DONE else Style.ERROR
        return f"{self._paint(f'{ended}:', style)} {self._format(state.reason)}, {counts}"

    def _lead(self, move: Move) -> str:
        if move.to:
            return f"{self._arrow} {self._names(move.to)}"
        if move.end:
            return f"{self._arrow} {move.end}"
        return f"{self._arrow} waits for {self._names(move.awaited)}" if move.awaited else ""

    def _names(self, nodes: tuple[str, ...]) -> str:
        named = ", ".join(self._format(each) for each in nodes[:_MOST])
        return named if len(nodes) <= _MOST else f"{named} and {len(nodes) - _MOST} more"

    def _format(self, text: str) -> str:
        return visible(text, self._paper.encoding)


def choose_status(state: State) -> Exit:
    """Return the exit status for the end of a run."""
    return Exit.CLEAN if state.ended is Outcome.DONE else Exit.FINDINGS


def announce(plan: Plan, digest: str, name: str, *, quiet: bool) -> None:
    """Print which run begins, of which plan."""
    if not quiet:
        say(f"run {name} of {plan.id}, {shorten_digest(digest)}")
