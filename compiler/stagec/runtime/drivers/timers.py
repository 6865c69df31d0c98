"""When the waits of a run began, by the times of its events: who resumes a run waits only for the rest."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.clock import read_clock
from stagec.core.value import replace
from stagec.runtime.machine.exchange import Effect, Wait, is_deadline
from stagec.runtime.machine.state import StepResult

_NANOSECONDS = 1_000_000


class Timers:
    """The waits that a run has asked for. Times are nanoseconds since 1970, of whichever machine has written them."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}

    def take(self, step: StepResult, at: int | None) -> None:
        """Take note of the waits that begin with a step, and forget those that are over; `at` is when it happened."""
        for effect in step.effects:
            if isinstance(effect, Wait) and at is not None:
                self._begun[effect.key] = at
        if self._begun:
            self._begun = {key: begun for key, begun in self._begun.items() if key in step.state.pending}

    def find_rest(self, wait: Wait) -> int:
        """Return how many milliseconds of a wait are left; one whose beginning nobody knows begins now.

        A clock that was put back makes no wait longer.
        """
        now = read_clock()
        if now is None:
            return wait.milliseconds
        passed = now - self._begun.setdefault(wait.key, now)
        return min(wait.milliseconds, max(0, wait.milliseconds - passed // _NANOSECONDS))

    def find_passed(self, waits: Iterable[Wait]) -> Wait | None:
        """Return a deadline that passed before anybody waited for it: whoever resumes the run asks for nothing else."""
        return next((each for each in waits if is_deadline(each.key) and not self.find_rest(each)), None)

    def shorten(self, effect: Effect) -> Effect:
        """Return a request; of a wait what is left of it."""
        return replace(effect, milliseconds=self.find_rest(effect)) if isinstance(effect, Wait) else effect
