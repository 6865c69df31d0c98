"""One run that is watched: what has happened in it, what that says, and the row that stands for it among others."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import RLock

from stagec.core.failure import Failure
from stagec.drivers.following import UnreachableError
from stagec.drivers.history import JournalError, Reason
from stagec.plan import PlanError
from stagec.runtime.program import Program
from stagec.serve.run_drawing import RunDrawing
from stagec.serve.run_source import RunRow, RunStamp, SourceRun
from stagec.serve.run_view import RunView

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
        """What is kept beside the plan of the run."""
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
        """Read what is new; return whether the row, and whether anything else has changed.

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
