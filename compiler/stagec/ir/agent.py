"""An agent as its callers see it: its name, its flow, and its closing answer."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.json import Object
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.ir.flow import Flow
from stagec.ir.rights import FlowRights
from stagec.sources.contract.promise import Presence


@value
class ClosingStep:
    """A step whose answer ends the work of an agent.

    `at` is the schema of the answer, or the step where there is none. `verdicts` are the values of its member
    `verdict`, None where they are not named one by one; `verdict` tells whether the member is there. `look_up` says so
    of any path; it is None where nothing is known of answers, as of the output of a program. `handed` are the paths of
    what the answer hands over.
    """

    step: str
    at: Place
    verdicts: tuple[str, ...] | None = None
    verdict: Presence = Presence.UNKNOWABLE
    look_up: Callable[[str], Presence] | None = None
    handed: tuple[str, ...] = ()


@value
class CalledAgent:
    """An agent: its definition, the steps that can end its work, and the flow that leads there.

    `limit` is the most steps of one of its runs, and `limit_at` the place of that number. `entry` selects where its
    runs begin. `is_whole` tells whether all members are well formed that decide which steps end its work.
    """

    at: Place
    flow: Flow
    entry: str
    closings: tuple[ClosingStep, ...]
    is_whole: bool
    limit: int | None = None
    limit_at: Place | None = None
    access: FlowRights | None = None
    """The rights of its steps."""
    parameters: Object = NOTHING
    """The inputs of its runs, as its definition declares them."""
