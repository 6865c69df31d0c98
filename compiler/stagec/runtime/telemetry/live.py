"""Sends what a run does while it is executed: follows it as anybody may, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from threading import Event as Flag
from threading import Thread

from stagec.core.failure import Failure
from stagec.runtime.drivers.following import FollowedRun
from stagec.runtime.drivers.history import UNTIMED, JournalError
from stagec.runtime.drivers.replay import BranchWalk
from stagec.runtime.machine import Program
from stagec.runtime.telemetry.otlp import Collector, RunIdentity
from stagec.runtime.telemetry.spans import Figures, RunTracer, TraceSpan

_PACE = 0.5
"""Seconds between two looks at the journal."""
_PATIENCE, _BRIEF = 2.0, 0.5
"""Seconds that a run waits for the collector after its end, and after a request to end at once."""


Note = Callable[[int], None]


class LiveTelemetry:
    """Follows a run and sends its spans, without those of an earlier session: the first `known` events.

    `program` is the one that the run began with. `note` is told how many events have been sent. Nothing that is wrong
    with the collector reaches the run. It is told when the run is over, by `finish`.
    """

    def __init__(
        self, run: FollowedRun, program: Program, collector: Collector, known: int = 0, note: Note = lambda _: None
    ) -> None:
        self._run, self._walk, self._collector, self._known = run, BranchWalk(program), collector, known
        self._note = note
        self._tracer, self._figures = RunTracer(program), Figures()
        self._digest = program.digest
        self._count, self._lost = 0, 0
        self._over = Flag()
        self._trouble = ""
        self._thread = Thread(target=self._follow, daemon=True)

    def start(self, *, messages: bool) -> None:
        """Begin to follow; `messages` asks for what was said as well."""
        self._tracer = RunTracer(self._walk.program, messages=messages)
        self._thread.start()

    def finish(self, *, is_urgent: bool = False) -> str:
        """Send what is left, wait a little for it, and return what has not arrived, nothing if all has."""
        seconds = _BRIEF if is_urgent else _PATIENCE
        self._over.set()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._collector.close()
            return self._collector.trouble or f"the collector did not accept everything within {seconds:g} s"
        return self._trouble or (self._collector.trouble or "the collector refused it" if self._lost else "")

    def _follow(self) -> None:
        try:
            with closing(self._run):
                while not self._over.wait(_PACE):
                    self._send()
                self._send()
                self._collector.send_figures(self._identity, self._figures, self._tracer.last or 0)
        except (JournalError, Failure) as error:
            self._trouble = str(error)

    @property
    def _identity(self) -> RunIdentity:
        return RunIdentity(self._tracer.run, self._digest, self._tracer.first)

    def _send(self) -> None:
        """Send the spans of what has happened since the last time."""
        found = self._read()
        if found and not self._collector.send(self._identity, found):
            self._lost += len(found)
        elif found and not self._lost:
            self._note(self._count)

    def _read(self) -> list[TraceSpan]:
        news, found = self._run.read_more(), list[TraceSpan]()
        times = news.times or (UNTIMED,) * len(news.events)
        for event, each in zip(news.events, times, strict=True):
            step = self._walk.take(event)
            self._count += 1
            spans = self._tracer.take(event, step, each)
            for span in spans:
                self._figures.take(span)
            found += spans if self._count > self._known else ()
        return found
