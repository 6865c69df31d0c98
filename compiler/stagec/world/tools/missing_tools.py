"""Answer calls of stages to tools that nobody has, so that the model learns it and continues."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.words import quote
from stagec.runtime.exchange import Call, Effect
from stagec.world.tools.step_calls import is_step_call
from stagec.world.tools.toolbox import describe_error


class MissingTools:
    """The last part of a world in which models answer; calls of steps are refused before anybody is asked."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether a stage calls a tool."""
        return isinstance(effect, Call) and not is_step_call(effect.key)

    def answer(self, effect: Effect) -> Json:
        """Return that there is no such tool."""
        tool = effect.tool if isinstance(effect, Call) else effect.key
        return describe_error("Unavailable", f"nothing executes the tool {quote(tool)} here")

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that calls may be under way beside each other."""
        return True

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def close(self) -> None:
        """Hold nothing open."""
