"""Whether a loop of turns may go on."""

from __future__ import annotations

from stagec.core.value import value

STAGE, CHAT = "sm", "default-chat"
"""The kinds of loop: inside a stage, and outside of all stages."""


@value
class Continuation:
    """Whether another turn may be taken; if not, whether that is a cap, or the failure that it is."""

    proceed: bool
    cap_hit: bool = False
    failure: str | None = None


_ON, _CAPPED = Continuation(proceed=True), Continuation(proceed=False, cap_hit=True)


def continued(kind: str, most: int, taken: int) -> Continuation:
    """Tell whether another turn may follow those that were taken, of which there may be `most`."""
    if taken < most:
        return _ON
    return _CAPPED if kind == STAGE else Continuation(proceed=False, failure="ExtensionHost/LoopBoundExceeded")
