"""Which signal a program gets when, on a monotonic clock: changes of the wall clock do not matter."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic

from stagec.core.value import value

TIMEOUT, ABORT = "timeout", "abort"


@value
class Alarm:
    """What happens so many milliseconds after the start of a program: a signal is sent; 0 is a warning to others."""

    milliseconds: float
    signal: int = 0


class Escalation:
    """The alarms of one program, in their order, each of which is taken once when it is due.

    `reason` is why a signal was sent, None as long as none was: it never becomes None again.
    """

    def __init__(self, alarms: tuple[Alarm, ...] = (), clock: Callable[[], float] = monotonic) -> None:
        self._alarms, self._clock = alarms, clock
        self._next = 0
        self._begin = clock()
        self._shift = 0.0
        self._lock = Lock()
        self._is_hastened = False
        self.reason: str | None = None

    def start(self) -> None:
        """Count from now."""
        self._begin = self._clock()

    @property
    def seconds(self) -> float:
        """How long the program runs."""
        return self._clock() - self._begin

    def wait(self) -> float | None:
        """Return the seconds until the next alarm, 0 for one that is due; None when none is left."""
        with self._lock:
            if self._next == len(self._alarms):
                return None
            due = self._alarms[self._next].milliseconds / 1000 + self._shift
            return max(0.0, due - self.seconds)

    def take(self) -> Alarm | None:
        """Return the next alarm if it is due."""
        if self.wait() != 0:
            return None
        with self._lock:
            alarm = self._alarms[self._next]
            self._next += 1
            if alarm.signal and self.reason is None:
                self.reason = ABORT if self._is_hastened else TIMEOUT
            return alarm

    def hasten(self) -> None:
        """Let the first signal be due now, and the others as long after it as they were; in any thread."""
        with self._lock:
            if self.reason is not None:
                return
            while self._next < len(self._alarms) and not self._alarms[self._next].signal:
                self._next += 1
            if self._next < len(self._alarms):
                self._is_hastened = True
                self._shift = self.seconds - self._alarms[self._next].milliseconds / 1000
