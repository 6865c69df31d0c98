"""What follows when a step has ended all that it leads to: steps that run together end their branches, not the run."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.cli.wording import describe_target, join_names
from stagec.core.value import value
from stagec.model.flow import Flow
from stagec.picture.lines import After, follow_ups
from stagec.plan.node import Schedule, Target

_TOGETHER = ", when all that run together have ended"


@value
class Following:
    """For each step what may follow its end, and for each step of a schedule those that need it."""

    after: Mapping[str, tuple[After, ...]]
    needed: Mapping[str, tuple[str, ...]]

    def is_last(self, step: str) -> bool:
        """Tell whether a run may be complete when a step has ended."""
        return not self.needed[step] if step in self.needed else None in self._list(step)

    def describe(self, step: str) -> tuple[str, tuple[str, ...]]:
        """Return what follows in words, and the steps that may follow; no words where nothing but the run ends."""
        if step in self.needed:
            need = self.needed[step]
            if not need:
                return "the run ends as done when all other steps have ended", ()
            return "each step that needs it begins when all that it needs is done", need
        known = self._list(step)
        told = [
            "the run ends as done" if each is None else f"{each[0]}{'' if each[1] else _TOGETHER}" for each in known
        ]
        names = tuple(each[0] for each in known if each is not None)
        return ", or ".join(told) if names else "", names

    def _list(self, step: str) -> tuple[After, ...]:
        return self.after.get(step) or (None,)


def read_following(flow: Flow) -> Following:
    """Return what follows the steps of a flow."""
    needed: dict[str, list[str]] = {}
    for schedule in flow.schedules.values():
        for step, needs in schedule.needs.items():
            needed.setdefault(step, [])
            for each in needs:
                needed.setdefault(each.node, []).append(step)
    return Following(follow_ups(flow), {step: tuple(some) for step, some in needed.items()})


def describe_beginning(target: Target) -> str:
    """Return the steps that a run begins with; of a schedule those that need nothing."""
    if not isinstance(target, Schedule):
        return describe_target(target)
    first = [step for step, needs in target.needs.items() if not needs]
    rest = "; every other step begins as soon as the steps that it needs are done"
    return f"{join_names(first)}{rest if len(first) < len(target.needs) else ''}"
