"""What the act of a stage comes to."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.runtime.state import Execution


@value
class Conclusion:
    """An attempt that is over: `attempt` is what came of it.

    `refused` is the code with which a hook or the provider has ended it; then nobody judges it.
    """

    execution: Execution
    attempt: Mapping[str, Json] = NOTHING
    refused: str | None = None
