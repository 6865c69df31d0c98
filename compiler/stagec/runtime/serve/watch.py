"""The runs of a source, watched by one thread: it reads changed ones and notifies the listeners."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event as Signal
from threading import RLock, Thread

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.ir.plan import PlanError
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.history import JournalError, Reason
from stagec.runtime.machine import load
from stagec.runtime.machine.program import Program
from stagec.runtime.serve.run_source import RunRow, RunSource, RunStamp, SourceRun
from stagec.runtime.serve.run_view import RunDrawing, RunView

_OFTEN = 0.5
"""Seconds between two looks at whether a process executes a run."""
_AT_ONCE = 50
"""Events that are folded before others may look."""


_YIELD = 0.001
"""Seconds in which others may look: whoever lets go of a lock and takes it at once keeps it."""


Prepare = Callable[[str, bytes], tuple[Program, RunDrawing]]


class WatchedRun:
    """A run of a source. Its `view` is None while nothing of it is kept but its row."""

    def __init__(self, name: str, live: SourceRun, prepare: Prepare) -> None:
        self.name = name
        self.lock = RLock()
        self.view: RunView | None = None
        self.row: RunRow | None = None
        self.version = self.row_version = 0
        self.asked = self.changed = 0.0
        self.is_executed = False
        self._live, self._prepare = live, prepare
        self._stamp: RunStamp | None = None
        self._looked = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, and nobody executes it."""
        return not self.is_executed and self.row is not None and self.row.status not in {"running", "waiting"}

    @property
    def facts(self) -> dict[str, str]:
        """The facts beside the plan of the run."""
        return dict(self._live.facts)

    @property
    def is_forgettable(self) -> bool:
        """Whether its row stays as it should when its events are forgotten."""
        return self.is_over or (self._stamp is not None and self._stamp.row is not None)

    def is_due(self, stamp: RunStamp) -> bool:
        """Tell whether something may have changed since the last look."""
        if self._stamp is None or stamp.token != self._stamp.token or stamp.is_fresh:
            return True
        if self.view is None and stamp.row is not None:
            return False
        return not self.is_over and time.monotonic() - self._looked > _OFTEN

    def look(self, stamp: RunStamp | None, shared: RLock) -> tuple[bool, bool]:
        """Read the news; return whether the row, and whether anything else has changed.

        `shared` is held while events are folded, for a moment at a time. What is known without reading is not read for
        a stamp, unless somebody has asked for the run before. Raises `UnreachableError`.
        """
        if stamp is not None:
            self._stamp, self.changed = stamp, stamp.changed
        self._looked = time.monotonic()
        before = self.row
        if stamp is not None and stamp.row is not None and self.view is None:
            self.row, self.is_executed = stamp.row, stamp.row.status in {"running", "waiting"}
            return self.row != before, False
        try:
            has_more = self._read(shared)
            row = self._describe()
        except UnreachableError:
            raise
        except (JournalError, PlanError, Failure) as error:
            is_damaged = isinstance(error, PlanError) or getattr(error, "reason", None) is Reason.DAMAGED
            self.close()
            has_more, self.is_executed = False, False
            row = RunRow(
                self.name, "damaged" if is_damaged else "unusable", str(error), changed=round(self.changed * 1000)
            )
        self.row = row
        return row != before, has_more

    def _read(self, shared: RLock) -> bool:
        self.is_executed = self._live.is_executed()
        news = self._live.read_more()
        view = self.view
        if news.begins or view is None:
            view = RunView(*self._prepare(self._live.digest, self._live.plan))
        for begin in range(0, len(news.events), _AT_ONCE):
            time.sleep(_YIELD if begin else 0)
            with shared:
                for event in news.events[begin : begin + _AT_ONCE]:
                    view.take(event)
        with shared:
            self.view = view
        return bool(news.events) or news.begins

    def _describe(self) -> RunRow:
        view = self.view
        if view is None:
            raise RuntimeError(self.name)
        state, uses = view.state, view.uses
        standing, reason = self._live.describe(state, is_executed=self.is_executed)
        return RunRow(
            self.name,
            str(standing),
            reason,
            view.program.plan.id,
            view.program.digest,
            state.executions,
            len(view.events),
            uses.input + uses.output,
            uses.cost if uses.requests else None,
            len(view.questions),
            round(self.changed * 1000),
        )

    def close(self) -> None:
        """Let go of the run and forget its events; the row stays."""
        with self.lock:
            self._live.close()
            self.view = None


_QUICK = 0.1
"""Seconds between two tellings, while much is read."""
_KEPT = 50
"""Ended runs that stay folded, besides those that somebody looks at."""
_PLANS = 200
"""Plans that are kept ready."""


@value
class RunChanges:
    """The changes since a version: new and changed rows, and the names of removed runs."""

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
        """Return the changes since a version; everything for version 0."""
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
