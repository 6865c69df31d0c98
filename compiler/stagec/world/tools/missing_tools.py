"""Answer calls of tools that nobody has, so that the model learns it and continues."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.json import Json
from stagec.core.words import quote
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.runtime.exchange import Call, Effect, Grant, read_key
from stagec.world.tools.policy import explain_absence
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


class UnknownTools:
    """Refuses calls of stages that mean no tool, so that no person is asked about them.

    `is_there` tells of a node and a name whether anybody has the tool.
    """

    def __init__(self, plan: Plan, is_there: Callable[[str, str], bool]) -> None:
        self._plan, self._is_there = plan, is_there

    def takes(self, effect: Effect) -> bool:
        """Tell whether somebody would be asked about a tool that is not there."""
        return isinstance(effect, Grant) and self._explain(effect) is not None

    def answer(self, effect: Effect) -> Json:
        """Return that the call is refused, and why."""
        return {"granted": False, "reason": self._explain(effect) if isinstance(effect, Grant) else None}

    def _explain(self, effect: Grant) -> str | None:
        node = read_key(effect.key).node
        act = self._plan.nodes[node].act if node in self._plan.nodes else None
        allowed = act.tools if isinstance(act, Converse) else ()
        is_there = effect.tool in self._plan.tools or self._is_there(node, effect.tool)
        return explain_absence(effect.tool, allowed, is_there=is_there) if isinstance(act, Converse) else None

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that other requests may be under way beside one."""
        return True

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def close(self) -> None:
        """Hold nothing open."""
