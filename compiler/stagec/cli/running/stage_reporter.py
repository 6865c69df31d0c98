"""Report the progress of a run of stages: a line for each attempt that ends, and the running ones drawn in place."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from stagec.cli.running.board import Board
from stagec.cli.running.report import EventReporter, LineReporter, RunFormatter, RunReporter
from stagec.cli.running.stages import has_stages
from stagec.cli.streams import find_canvas, put
from stagec.core.terminal import Canvas, Paint, Style, columns
from stagec.core.words import ellipsis, escape_ci_commands, format_count, visible
from stagec.drivers.local.stage_ledger import StageEffect, StageLedger, StageRecord
from stagec.plan import Plan
from stagec.plan.act import Process
from stagec.runtime import Event, State, StepResult
from stagec.runtime.exchange import Execute, Preserve, Publish

_WIDEST = 40
"""Columns of the ids of stages."""
_LEAST = 3
"""Lines of a terminal that no rows take."""


class StageReporter:
    """Reports to people; `log` is the path of the file that has the output of the stages, if there is one."""

    def __init__(self, plan: Plan, log: str = "") -> None:
        self._log = log
        self._plan, self._ledger = plan, StageLedger(plan)
        self._paper = find_canvas(sys.stdout, os.environ)
        self._paint = Paint(self._paper.colour)
        self._formatter = RunFormatter(plan, self._paper)
        self._width = min(_WIDEST, max(columns(self._show(each)) for each in self._ledger.stages))
        self._said: dict[str, tuple[float, str]] = {}
        self._events, self._has_failures = 0, False
        self._board = Board(self._draw)

    def recall(self, event: Event, step: StepResult) -> None:
        """Take note of an event of an earlier session."""
        self._events += 1
        self._ledger.take(event, step)

    def observe(self, event: Event, step: StepResult) -> None:
        """Print a line for an attempt that has ended, and for a stage that is complete."""
        self._events += 1
        answered = self._ledger.take(event, step)
        for effect in step.effects:
            if isinstance(effect, Execute):
                self._said.pop(effect.node, None)
        line = self._describe(answered)
        if line:
            self.print(line)
        self._board.start()

    def tell(self, stage: str, sentence: str) -> None:
        """Print what happens to a stage; in any thread."""
        self.print(self._format(stage, self._show(sentence)))

    def show(self, stage: str, percent: float, text: str) -> None:
        """Take note of how far a stage is; in any thread."""
        self._said[stage] = percent, text

    def print(self, line: str) -> None:
        """Print a line above the rows."""
        with self._board.above():
            put(f"{line}\n")

    def conclude(self, state: State) -> None:
        """Print the last line."""
        self.close()
        if self._log and self._has_failures:
            put(f"log of the stages: {self._show(self._log)}\n")
        put(f"{self._formatter.ending(state)}, {format_count(self._events, 'event')}\n")

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._board.stop()

    def _describe(self, answered: StageEffect | None) -> str:
        """Return a line about what was answered; nothing for what goes on."""
        if answered is None:
            return ""
        record = self._ledger.stages[answered.node]
        if isinstance(answered, Publish) and not record.ending:
            told = [self._paint("completed", Style.MESSAGE), _format_seconds(record), record.checkpoint or ""]
        elif isinstance(answered, Preserve):
            told = [f"left {record.checkpoint}" if record.checkpoint else ""]
        elif record.ending:
            self._has_failures = True
            told = [self._paint(self._show(record.ending), Style.ERROR), _format_seconds(record)]
            told += [f"attempt {record.attempts}"] if record.attempts > 1 else []
            told += [self._show(record.said)]
        else:
            told = []
        line = ", ".join(each for each in told if each)
        return self._format(answered.node, line) if line else ""

    def _format(self, stage: str, told: str) -> str:
        name = escape_ci_commands(self._show(stage))
        return f"{name}{' ' * (self._width - columns(name))}  {told}"

    def _show(self, text: str) -> str:
        return visible(text, self._paper.encoding)

    def _draw(self, paper: Canvas) -> list[str]:
        """Return the rows of this moment: each stage that runs, and how many there are of each kind."""
        rows = list(self._list_rows(paper))
        room = max(1, _count_lines() - _LEAST)
        more = [f"and {len(rows) - room} more"] if len(rows) > room else []
        return [_cut(each, paper) for each in (*rows[:room], *more, self._count())]

    def _list_rows(self, paper: Canvas) -> Iterator[str]:
        now = time.monotonic()
        for name, record in list(self._ledger.stages.items()):
            act = self._plan.nodes[name].act
            if record.begun is None or not isinstance(act, Process):
                continue
            elapsed, limit = now - record.begun, act.limits.warn / 1000
            if elapsed > limit:
                limit = act.limits.interrupt / 1000
            percent, text = self._said.get(name, (None, ""))
            part = "" if percent is None else f"{percent:3.0f} %"
            yield visible(f"{name:<{self._width}}  {elapsed:3.0f} s of {limit:3g} s  {part}  {text}", paper.encoding)

    def _count(self) -> str:
        records = self._ledger.stages.values()
        running = sum(each.begun is not None for each in records)
        over = sum(each.attempts > 0 and each.begun is None and not each.ending for each in records)
        return f"{over} of {format_count(len(records), 'stage')} completed, {running} running"


def _format_seconds(record: StageRecord) -> str:
    return "" if record.seconds is None else f"{record.seconds:.1f} s"


def _cut(row: str, paper: Canvas) -> str:
    """Return a row that leaves the last column of a terminal free, so that none goes on in the next line."""
    room = (paper.width or 80) - 1
    if columns(row) <= room:
        return row.rstrip()
    left_out = ellipsis(paper.encoding)
    while columns(row) > room - columns(left_out):
        row = row[:-1]
    return row + left_out


def _count_lines() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines
    except (OSError, ValueError):
        return 24


def choose_reporter(plan: Plan, events: str | None, log: str = "") -> RunReporter:
    """Return the reporter for a plan and the format that was asked for; `log` has the output of stages."""
    if events is not None:
        return EventReporter()
    return StageReporter(plan, log) if has_stages(plan) else LineReporter(plan)
