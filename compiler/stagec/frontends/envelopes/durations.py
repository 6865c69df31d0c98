"""How long the stages of a plan may last, where they say so."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.frontends.envelopes.document import StagePlan


def find_durations(plan: StagePlan) -> Iterator[tuple[Place, float]]:
    """Yield every duration that is written and is a number, in seconds, with its place."""
    for stage in plan.envelopes:
        given = stage.members.get("maxDurationSec")
        if isinstance(given, int | float) and not isinstance(given, bool):
            yield stage.at / "maxDurationSec", given
