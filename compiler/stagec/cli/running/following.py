"""Who has done what in a run, and where that leads: read off the states before and after each event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from stagec.core.value import value
from stagec.runtime import Cancelled, Event, State, Step
from stagec.runtime.execution import Execution

_NAMES = ("stageExecutionId", "execution")
"""Under which name what is told says of which execution it is."""


@value
class Leg:
    """One execution that is over: its node, the number of its visit, its outcome, and where it leads.

    `to` are nodes; when there is none, the run has ended as `end` says, or the nodes in `awaited` are waited for.
    """

    node: str
    visit: int
    outcome: str
    to: tuple[str, ...] = ()
    end: str = ""
    awaited: tuple[str, ...] = ()


class Follower:
    """Follows a run event by event, from its beginning."""

    def __init__(self) -> None:
        self.state = State()
        self._outcomes: dict[str, str] = {}

    def legs(self, event: Event, step: Step) -> tuple[Leg, ...]:
        """Return the executions that are over with an event, in the order in which they ended."""
        before, after = self.state, step.state
        self.state = after
        for told in step.told:
            self._note(told.facts)
        begun = tuple(_begun(before, after))
        over = [key for key in (*before.active, *begun) if key not in after.active]
        if isinstance(event, Cancelled):
            return tuple(_cancelled(key) for key in over)
        return tuple(self._legs(before, after, over, begun))

    def _note(self, facts: Mapping[str, Any]) -> None:
        """Remember the last word that was told about the outcome of an execution."""
        key = next((facts[name] for name in _NAMES if name in facts), None)
        said = next((str(facts[name]) for name in ("intent", "verdict") if name in facts), None)
        if said is None and "exit" in facts:
            said = "killed" if facts["exit"] is None else f"exit {facts['exit']}"
        if isinstance(key, str) and said is not None:
            self._outcomes[key] = said
        if isinstance(key, str) and "pattern" in facts:
            self._outcomes[key] = f"{self._outcomes.get(key, '')} refused: {facts['pattern']}".strip()

    def _legs(self, before: State, after: State, over: list[str], begun: tuple[str, ...]) -> Iterator[Leg]:
        first = next((key for key in over if self._outcomes.get(key)), over[0] if over else "")
        way = [first, *(key for key in begun if key in over and key != first)] if over else []
        for key, following in pairwise((*way, "")):
            to = (_node(following),) if following else tuple(_led_to(before, after, begun))
            yield self._leg(key, after, to)
        for key in over:
            if key not in way:
                self._outcomes.pop(key, None)
                yield _cancelled(key)

    def _leg(self, key: str, after: State, to: tuple[str, ...]) -> Leg:
        end = str(after.ended) if after.ended is not None and not to else ""
        others: tuple[Any, ...] = () if to or end else (*after.active.values(), *after.waiting)
        awaited = tuple(dict.fromkeys(each.node for each in others))
        return Leg(_node(key), _visit(key), self._outcomes.pop(key, ""), to, end, awaited)


def label(node: str, visit: int) -> str:
    """Return what an execution is called: its node, and its number if it is not the first."""
    return node if visit == 1 else f"{node}#{visit}"


def _cancelled(key: str) -> Leg:
    return Leg(_node(key), _visit(key), "cancelled")


def _begun(before: State, after: State) -> Iterator[str]:
    """Yield the keys of the executions that began with an event."""
    for node, past in after.past.items():
        known = before.past.get(node)
        if known is not past:
            visits = 0 if known is None else known.visits
            yield from (f"{after.run}/{node}#{visit}" for visit in range(visits + 1, past.visits + 1))


def _led_to(before: State, after: State, begun: tuple[str, ...]) -> Iterator[str]:
    """Yield the nodes that an event led to: those that began, and those that wait for their turn since."""
    waited = [(each.node, each.branch) for each in before.waiting]
    active = (after.active[key] for key in begun if key in after.active)
    arrived: list[Any] = [*active, *after.waiting]
    for each in arrived:
        if (each.node, each.branch) not in waited:
            yield each.node


def _node(key: str) -> str:
    return key.rpartition("#")[0].partition("/")[2]


def _visit(key: str) -> int:
    return int(key.rpartition("#")[2])


def names_of(executions: Mapping[str, Execution]) -> tuple[str, ...]:
    """Return what executions are called."""
    return tuple(label(_node(key), _visit(key)) for key in executions)
