"""What an act hands back when its execution is over."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.value import value
from stagec.runtime.state import Execution


@value
class Finished:
    """An execution that is over: its outcome, its result, and the node that the answer names, if it names one.

    `back` is the node that runs next whatever the edges say, and `prompt` what it is asked then: a validation failed.
    """

    execution: Execution
    outcome: str
    result: Json
    named: str | None = None
    back: str | None = None
    prompt: str | None = None
