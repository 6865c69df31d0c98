"""When a request is made, as its key says: by which node, in which visit and which attempt."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.value import value
from stagec.runtime.exchange import execution_of
from stagec.runtime.values import MISSING


@value
class Occasion:
    """The parts of a key `run/node#visit/attempt.index`."""

    key: str
    node: str
    visit: int
    attempt: int

    def of_visit(self, given: Json) -> Json:
        """Return what a list has for the visit, its last where it is shorter, nothing of an empty one; else the value.

        Nothing is `MISSING`.
        """
        if not isinstance(given, list):
            return given
        found: Json = given[min(self.visit, len(given)) - 1] if given else MISSING
        return found


def occasion_of(key: str) -> Occasion:
    """Return the parts of a key."""
    execution = execution_of(key)
    named, _, visit = execution.rpartition("#")
    attempt = key.rpartition("/")[2].partition(".")[0]
    return Occasion(key, named.partition("/")[2], int(visit), int(attempt))
