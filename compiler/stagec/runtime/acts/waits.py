"""How long to wait before trying again."""

from __future__ import annotations

from stagec.plan.gate import Backoff
from stagec.runtime.effect import Wait
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_MOST = 24 * 60 * 60 * 1000
"""Milliseconds; doubling ends here."""


def pause(moment: Moment, execution: Execution, tries: int) -> None:
    """Ask for the wait after so many tries; one of no length as well, so that there is one way on."""
    retry = moment.nodes[execution.node].retry
    moment.request(execution, Wait, milliseconds=0 if retry is None else length(retry.backoff, tries))


def length(backoff: Backoff, tries: int) -> int:
    """Return the milliseconds to wait after so many tries."""
    if backoff.kind == "exponential":
        return min(_MOST, backoff.milliseconds << min(tries - 1, 40))
    return min(_MOST, backoff.milliseconds) if backoff.kind == "fixed" else 0
