"""Outages of providers of models, which interrupt runs, and how long runs rest before they are resumed."""

from __future__ import annotations

from math import isfinite

from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, text_in

LONGEST_REST = 900.0
"""Seconds between two attempts to go on, at most, unless the provider asks for more."""
_LONGEST_ASKED = 86_400.0
"""Seconds that a provider may ask for; more counts as this."""
_JITTER, _MOST_JITTER = 0.1, 30.0
"""The share of a pause, and the seconds, by which it becomes longer at most."""


class ProviderOutage(Failure):
    """Interrupts a run because a provider of models does not answer; nothing is wrong with the run.

    `pause` are the seconds until the first attempt to go on makes sense, as the policy says, `asked` those for which
    the provider itself asks, None if it does not.
    """

    def __init__(self, message: str, pause: float, asked: float | None = None) -> None:
        super().__init__(message, Exit.INTERRUPTED)
        self.pause, self.asked = pause, asked

    def find_rest(self, number: int = 1) -> float:
        """Return the seconds until the next attempt to go on, after so many outages in a row."""
        return find_rest(self.pause, self.asked, number)

    def to_json(self) -> Object:
        """Return the outage as a database keeps it."""
        return {"reason": str(self), "pause": self.pause, "asked": self.asked}


def find_rest(pause: float, asked: float | None, number: int) -> float:
    """Return how long to rest after so many outages in a row: twice as long each time, and never less than asked."""
    grown = min(max(LONGEST_REST, pause), pause * 2.0 ** min(number - 1, 30))
    return max(grown, limit_asked(asked) or 0.0)


def spread(seconds: float, chance: float) -> float:
    """Return a pause lengthened by a random share from 0 to 1, so that waiting runs do not return together."""
    return seconds + min(seconds * _JITTER, _MOST_JITTER) * chance


def limit_asked(seconds: float | None) -> float | None:
    """Return for how long a provider asks to wait, a day at most; nothing for what is no time."""
    if seconds is None or not isfinite(seconds) or seconds < 0:
        return None
    return min(seconds, _LONGEST_ASKED)


def read_outage(given: Object) -> ProviderOutage:
    """Return an outage from its JSON."""
    pause, asked = _number(given.get("pause")), _number(given.get("asked"))
    return ProviderOutage(text_in(given, "reason") or "", pause or 0.0, asked)


def _number(given: Json) -> float | None:
    return float(given) if isinstance(given, int | float) else None
