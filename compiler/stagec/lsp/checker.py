"""A thread that checks a workspace after each change, soon and at most once for many changes in a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition, Thread

from stagec.core.collector import collect_above
from stagec.lsp.workspace import CheckedProject, SupersededError, Workspace

QUIET = 0.002
"""Seconds without a change before a check begins."""
_LOOK = 1.0
"""Seconds between two looks at the disk."""
_LONGEST = 2.0
"""Seconds after which a check is finished although the texts change: who types on and on sees findings, too."""

_FEW, _MANY = 10_000, 300_000
"""New objects after which memory is freed: while nobody waits for findings, and at last between two checks."""

Told = Callable[[Sequence[CheckedProject]], None]


class Checker:
    """Checks a workspace whenever somebody asks, and when something has changed outside of the editor.

    `tell` is given the projects when the rules have judged them, and after each complete check, in the thread of the
    checker. A check is given up when somebody asks again. `blame` gets each unexpected exception; the next
    check begins from the start.
    """

    def __init__(
        self, workspace: Workspace, tell: Told, blame: Callable[[Exception], None], quiet: float = QUIET
    ) -> None:
        self._workspace = workspace
        self._tell = tell
        self._blame = blame
        self._quiet = quiet
        self._changed = Condition()
        self._asked = 0
        self._done = 0
        self._asked_at = 0.0
        self._is_ended = False
        self.given_up = 0
        self._thread = Thread(target=self._work, name="checker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask(self) -> None:
        """Ask for a check of what is open now."""
        with self._changed:
            if self._done == self._asked:
                self._asked_at = time.monotonic()
            self._asked += 1
            self._changed.notify_all()

    def end(self) -> None:
        """End the thread, and what it does."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._is_ended:
            try:
                asked = self._wait()
                if asked is not None:
                    self._check(asked)
            except Exception as error:  # the editor has to go on, whatever a text makes the compiler raise
                self._done = self._asked
                self._blame(error)

    def _wait(self) -> int | None:
        """Wait until a check is due, and return for which question; None when there is nothing to do yet."""
        with self._changed:
            if self._done == self._asked and not self._is_ended:
                self._changed.wait(_LOOK)
            is_idle = self._done == self._asked
            if self._done != self._asked:
                self._settle()
                return self._asked
        if is_idle:
            collect_above(_FEW)
        if self._workspace.has_changed_outside():
            self.ask()
        return None

    def _settle(self) -> None:
        """Wait until nobody asks again for a moment."""
        begin = time.monotonic()
        while time.monotonic() - begin < _LONGEST and not self._is_ended:
            before = self._asked
            self._changed.wait(self._quiet)
            if self._asked == before:
                return

    def _check(self, asked: int) -> None:
        is_late = time.monotonic() - self._asked_at > _LONGEST

        def pause() -> None:
            if self._is_ended or (self._asked != asked and not is_late):
                raise SupersededError

        try:
            found = self._workspace.check(pause, self._tell)
        except SupersededError:
            self.given_up += 1
            return
        self._done = asked
        self._asked_at = time.monotonic()
        self._tell(found)
        collect_above(_MANY)
