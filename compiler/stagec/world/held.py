"""Requests to end that come at a moment at which nobody could tidy up: they are held back until somebody can."""

from __future__ import annotations

import signal
from threading import current_thread, main_thread

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Held:
    """Holds requests to end back from its making until `release`, which then obeys the first of them."""

    def __init__(self) -> None:
        self._came: list[int] = []
        is_main = current_thread() is main_thread()  # signals are no other thread's business
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)] if is_main else []
        obeyed = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
        self._before = {each: signal.signal(each, self._hold) for each in obeyed}

    def _hold(self, number: int, _frame: object) -> None:
        self._came.append(number)

    @property
    def is_asked(self) -> bool:
        """Whether anybody has asked to end."""
        return bool(self._came)

    def release(self) -> None:
        """Obey again, and what came in the meantime first."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}
        for number in self._came[:1]:
            self._came.clear()
            signal.raise_signal(number)
