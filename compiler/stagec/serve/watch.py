"""The runs of a source, looked at by one thread: what has changed is read, and whoever listens is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event as Signal
from threading import RLock, Thread

from stagec.core.value import value
from stagec.drivers.following import UnreachableError
from stagec.plan import PlanError
from stagec.runtime import load
from stagec.runtime.program import Program
from stagec.serve.run_drawing import RunDrawing
from stagec.serve.run_source import RunRow, RunSource, RunStamp
from stagec.serve.watched_run import WatchedRun

_QUICK = 0.1
"""Seconds between two tellings, while much is read."""
_KEPT = 50
"""Ended runs that stay folded, besides those that somebody looks at."""
_PLANS = 200
"""Plans that are kept ready."""


@value
class RunChanges:
    """What has changed since a version: rows that are new or other, and the names of runs that are gone."""

    version: int
    rows: tuple[RunRow, ...]
    gone: tuple[str, ...]


class Watch:
    """Follows the runs of a source; all its methods can be called in any thread."""

    def __init__(self, source: RunSource) -> None:
        self.source = source
        self.lock = RLock()
        self.trouble = ""
        self._runs: dict[str, WatchedRun] = {}
        self._gone: dict[str, int] = {}
        self._plans: dict[str, tuple[Program, RunDrawing]] = {}
        self._version = self._told = 0
        self._when = 0.0
        self._listeners: list[Callable[[], None]] = []
        self._wake, self._is_ended = Signal(), False
        self._thread = Thread(target=self._follow, name="watch", daemon=True)

    def start(self) -> None:
        """Look again and again in a thread until `close`; the runs that changed last are read first."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking, and let go of every file."""
        self._is_ended = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        for run in self._runs.values():
            run.close()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call somebody, in the thread that looks, when anything has changed; return what ends that."""
        with self.lock:
            self._listeners.append(listener)
        self._wake.set()

        def stop() -> None:
            with self.lock:
                self._listeners.remove(listener)

        return stop

    def find(self, name: str) -> WatchedRun | None:
        """Return a run by its name, folded; None when there is none. Raises `UnreachableError`."""
        run = self._runs.get(name)
        if run is None and self.source.holds(name):
            run = self._add(name)  # it has just begun
        if run is not None:
            run.asked = time.monotonic()
            if run.view is None:
                self._look_at(run, None)
        return run

    def list_changes(self, version: int) -> RunChanges:
        """Return what has changed since a version; everything that there is for version 0."""
        with self.lock:
            rows = tuple(run.row for run in self._runs.values() if run.row is not None and run.row_version > version)
            gone = tuple(name for name, when in self._gone.items() if when > version and version)
            return RunChanges(self._version, rows, gone)

    def look(self) -> None:
        """Look at every run of the source. While it cannot be asked, everything stays as it is."""
        try:
            self._look_around()
            self._take_trouble("")
        except UnreachableError as error:
            self._take_trouble(str(error))
        self._tell(at_once=True)

    def _look_around(self) -> None:
        found = dict(sorted(self.source.list_stamps(), key=lambda each: each[1].changed, reverse=True))
        for name in self._runs.keys() - found.keys():
            with self.lock:
                self._runs.pop(name).close()
                self._gone[name] = self._version = self._version + 1
        for name in found.keys() - self._runs.keys():
            self._add(name)
        for name, stamp in found.items():
            run = self._runs[name]
            if run.is_due(stamp):
                self._look_at(run, stamp)
                self._forget()
            if self._is_ended:
                return
            self._tell()

    def _take_trouble(self, trouble: str) -> None:
        """Remember why the source cannot be asked, nothing when it can."""
        with self.lock:
            if self.trouble != trouble:
                self.trouble = trouble
                self._version += 1

    def _add(self, name: str) -> WatchedRun:
        """Return the run of a name, which is watched from now on."""
        with self.lock:
            self._gone.pop(name, None)
            return self._runs.setdefault(name, WatchedRun(name, self.source.follow(name), self._prepare))

    def _tell(self, *, at_once: bool = False) -> None:
        """Tell listeners that something has changed; while much is read, now and then."""
        now = time.monotonic()
        if self._version == self._told or (now - self._when < _QUICK and not at_once):
            return
        self._told, self._when = self._version, now
        for listener in tuple(self._listeners):
            listener()

    def _look_at(self, run: WatchedRun, stamp: RunStamp | None) -> None:
        with run.lock:
            has_row, has_more = run.look(stamp, self.lock)
            if has_row or has_more:
                with self.lock:
                    self._version += 1
                    run.version = self._version
                    run.row_version = self._version if has_row else run.row_version

    def _follow(self) -> None:
        while not self._is_ended:
            self.look()
            self._wake.wait(self.source.quick if self._listeners else self.source.slow)
            self._wake.clear()

    def _prepare(self, digest: str, data: bytes) -> tuple[Program, RunDrawing]:
        """Return a plan that is ready, and its drawing; raise `PlanError` for one that cannot be used."""
        known = self._plans.get(digest)
        if known is None:
            program = load(data)
            if program.digest != digest:
                raise PlanError("it has another digest than its run says")
            if len(self._plans) >= _PLANS:
                del self._plans[next(iter(self._plans))]
            known = self._plans[digest] = program, RunDrawing(program.plan)
        return known

    def _forget(self) -> None:
        """Forget the events of runs that nobody looks at and that have ended, or are known without; their rows stay."""
        ended = [run for run in self._runs.values() if run.is_forgettable and run.view is not None]
        if len(ended) > _KEPT:
            ended.sort(key=lambda run: (run.asked, run.changed), reverse=True)
            for run in ended[_KEPT:]:
                run.close()
