"""What followed from an event, as a short text that is kept with it: a replay that differs is noticed.

A step digest is the digest of the requests, of those that are void, and of the trace events. At every 1,000th event,
and at the one that ends the run, a dot and the digest of the whole state follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from operator import attrgetter
from typing import Any, get_args

from stagec.runtime.exchange import Effect
from stagec.runtime.state import StepResult

_MEMBERS: Mapping[type, Callable[[Effect], Any]] = {kind: attrgetter(*kind.__match_args__) for kind in get_args(Effect)}
"""What reads all members of a request of a class; every event has a step digest, so it must be quick."""
_OFTEN = 1_000
"""Events between two digests of the whole state, which may be large; what differs in it is soon asked or told, too."""


def digest_step(number: int, step: StepResult) -> str:
    """Return the step digest of the event of a number."""
    asked = [(type(each).__name__, _MEMBERS[type(each)](each)) for each in step.effects]
    followed = _digest((asked, step.void, [(each.name, each.facts) for each in step.trace]))
    is_whole = number % _OFTEN == 0 or step.state.ended is not None
    return f"{followed}.{_digest(step.state)}" if is_whole else followed


def _digest(given: object) -> str:
    """Return the digest of a value; values are equal when they are shown alike, in every version of Unicode."""
    return blake2b(ascii(given).encode(), digest_size=16).hexdigest()
