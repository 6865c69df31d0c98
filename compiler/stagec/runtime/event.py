"""What happens to a run: it begins, the world answers, somebody cancels it."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value


@value
class Started:
    """A run begins: its id, the entry that was selected, None for the plan's own, and its inputs."""

    run: str
    entry: str | None = None
    inputs: Mapping[str, Json] = NOTHING


@value
class Answered:
    """The world has answered a request; `answer` is as the class of the request says."""

    key: str
    answer: Json


@value
class Cancelled:
    """Somebody wants the run to end."""

    reason: str = "cancelled"


Event = Started | Answered | Cancelled
