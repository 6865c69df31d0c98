"""How long the stages of a plan may last, where they say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stagec.core.place import Place
from stagec.frontends.envelopes.document import Envelope, StagePlan


def find_durations(plan: StagePlan, fits: Callable[[float], bool]) -> Iterator[tuple[Place, float]]:
    """Yield every duration, in seconds, that is written, is a number and is what is asked for, with its place."""
    durations = plan.memo.once("durations", lambda: list(_list_durations(plan)))
    judged = {duration: fits(duration) for duration in {each for _, each in durations}}
    return ((stage.at / "maxDurationSec", duration) for stage, duration in durations if judged[duration])


def _list_durations(plan: StagePlan) -> Iterator[tuple[Envelope, float]]:
    for stage in plan.envelopes:
        given = stage.members.get("maxDurationSec")
        if isinstance(given, int | float) and not isinstance(given, bool):
            yield stage, given
