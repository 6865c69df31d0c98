"""A question of a run that waits for an answer, wherever the run is kept."""

from __future__ import annotations

from stagec.core.value import value
from stagec.drivers.messages import RunMessage
from stagec.world.questions import OpenQuestion


@value
class Asked:
    """A question of the run of a name, and the answer that was sent and has not arrived, if any.

    `is_executed` tells whether somebody executes the run; otherwise an answer counts when the run is resumed. `words`
    name the run to other commands.
    """

    run: str
    question: OpenQuestion
    is_executed: bool
    sent: RunMessage | None = None
    words: tuple[str, ...] = ()
