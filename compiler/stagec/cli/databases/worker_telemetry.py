"""Sends what runs do that a worker executes, if somebody asks for it: each span of a run once, whoever executes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stagec.cli.running.telemetry import is_configured
from stagec.cli.running.world_options import WorldOptions
from stagec.core.failure import Failure
from stagec.core.words import quote, visible
from stagec.drivers.dbos import LiveRun, RunStore
from stagec.drivers.dbos.sent_telemetry import note_sent, read_sent

if TYPE_CHECKING:
    from stagec.telemetry.live import LiveTelemetry


class WorkerTelemetry:
    """Follows the runs of a worker; nothing that is wrong with the collector reaches them."""

    def __init__(self, store: RunStore, options: WorldOptions, tell: Callable[[str], None]) -> None:
        self._store, self._options, self._tell = store, options, tell
        self._is_on = options.telemetry or is_configured(os.environ)
        self._told = ""
        if self._is_on:
            self._look_for_libraries()

    def _look_for_libraries(self) -> None:
        """Raise `Failure` if --telemetry cannot work; where only variables ask for it, say so and continue without."""
        from stagec.telemetry.otlp import Collector

        try:
            Collector().close()
        except Failure as failure:
            if self._options.telemetry:
                raise
            self._is_on = False
            self._tell(f"note: no telemetry is sent: {failure}")

    @contextmanager
    def follow(self, run: str) -> Iterator[None]:
        """Send what a run does while the body executes it, without what somebody has sent before."""
        if not self._is_on:
            yield
            return
        live = self._open(run)
        live.start(messages=self._options.telemetry_messages)
        try:
            yield
        finally:
            trouble = live.finish()
            if trouble and trouble != self._told:
                how = "'stagec runs export --otlp' sends all of it"
                self._tell(f"note: telemetry of run {quote(visible(run))} is not complete: {trouble}; {how}")
            self._told = trouble

    def _open(self, run: str) -> LiveTelemetry:
        from stagec.telemetry.live import LiveTelemetry
        from stagec.telemetry.otlp import Collector

        begun = self._store.load_program(self._store.find(run))

        def note(count: int) -> None:
            note_sent(self._store, run, count)

        return LiveTelemetry(LiveRun(self._store, run), begun, Collector(), read_sent(self._store, run), note)
