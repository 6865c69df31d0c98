"""One run that is watched: its journal, what its events say, and the row that stands for it among others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import RLock

from stagec.core.json import Object
from stagec.core.value import value
from stagec.drivers.local import JournalError, Reason
from stagec.drivers.local.live_journal import LiveJournal, find_standing
from stagec.plan import PlanError
from stagec.runtime.program import Program
from stagec.serve.run_drawing import RunDrawing
from stagec.serve.run_view import RunView

SUFFIX = ".run"
_RECENT = 1.0
"""Seconds in which a file may change again without a new time: clocks of file systems tick slowly."""
_OFTEN = 0.5
"""Seconds between two looks at whether a process executes a run."""
_AT_ONCE = 50
"""Events that are folded before others may look."""

_YIELD = 0.001
"""Seconds in which others may look: whoever lets go of a lock and takes it at once keeps it."""

Prepare = Callable[[str, bytes], tuple[Program, RunDrawing]]


@value
class RunRow:
    """How a run stands, in a row: see `docs/user-guide/serve.md` for the statuses. `changed` is in milliseconds."""

    name: str
    status: str
    reason: str = ""
    plan: str = ""
    digest: str = ""
    executions: int = 0
    events: int = 0
    tokens: int = 0
    cost: str | None = None
    questions: int = 0
    changed: int = 0

    def to_json(self) -> Object:
        """Return the row as the page shows it."""
        return {name: getattr(self, name) for name in RunRow.__match_args__}


class WatchedRun:
    """A run of a folder. Its `view` is None while nothing of it is kept but its row."""

    def __init__(self, path: Path, prepare: Prepare) -> None:
        self.path = path
        self.name = path.name.removesuffix(SUFFIX)
        self.lock = RLock()
        self.view: RunView | None = None
        self.row: RunRow | None = None
        self.version = self.row_version = 0
        self.asked = self.changed = 0.0
        self.is_executed = False
        self._journal = LiveJournal(path)
        self._prepare = prepare
        self._stamp: tuple[int, int, int] | None = None
        self._looked = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, and nobody executes it."""
        return not self.is_executed and self.row is not None and self.row.status not in {"running", "waiting"}

    @property
    def facts(self) -> dict[str, str]:
        """What is kept beside the plan in the journal."""
        return dict(self._journal.facts)

    def is_due(self, status: os.stat_result) -> bool:
        """Tell whether something may have changed since the last look."""
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
        if stamp != self._stamp or time.time() - status.st_mtime < _RECENT:
            return True
        return not self.is_over and time.monotonic() - self._looked > _OFTEN

    def look(self, status: os.stat_result | None, shared: RLock) -> tuple[bool, bool]:
        """Read what is new; return whether the row, and whether anything else has changed.

        `shared` is held while events are folded, for a moment at a time.
        """
        if status is not None:
            self._stamp, self.changed = (status.st_mtime_ns, status.st_size, status.st_ino), status.st_mtime
        self._looked = time.monotonic()
        before = self.row
        try:
            has_more = self._read(shared)
            row = self._describe()
        except (JournalError, PlanError) as error:
            is_damaged = isinstance(error, PlanError) or error.reason is Reason.DAMAGED
            self.close()
            has_more, self.is_executed = False, False
            row = RunRow(
                self.name, "damaged" if is_damaged else "unusable", str(error), changed=round(self.changed * 1000)
            )
        self.row = row
        return row != before, has_more

    def _read(self, shared: RLock) -> bool:
        self.is_executed = self._journal.is_executed()
        news = self._journal.read_more()
        view = self.view
        if news.begins or view is None:
            view = RunView(*self._prepare(self._journal.digest, self._journal.plan))
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
        return RunRow(
            self.name,
            str(find_standing(state, is_executed=self.is_executed)),
            state.reason,
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
        """Let go of the file and forget its events; the row stays."""
        with self.lock:
            self._journal.close()
            self.view = None
