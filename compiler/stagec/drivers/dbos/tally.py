"""What a worker has done, counted for whoever watches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock


class Tally:
    """Counts by name; may be used in several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def count(self, name: str) -> None:
        """Count something once more."""
        with self._lock:
            self._counts[name] += 1

    def counts(self) -> Mapping[str, int]:
        """Return what was counted until now."""
        with self._lock:
            return dict(self._counts)
