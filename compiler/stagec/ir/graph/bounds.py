"""How much a run of a plan takes: executions, turns, calls, time, tokens and money, at most and at least.

What a run takes *at most* is said twice: `first` is the most if every first attempt succeeds and every validation
passes, `most` holds for every run. None where nothing bounds it. What it takes *at least* holds for every run that is
completed and in which no agent fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from stagec.core.value import NOTHING, replace, value
from stagec.ir.graph.entry_runs import Agents, EntryRuns
from stagec.ir.graph.expense import MOST, Assumed, add_pauses, spend
from stagec.ir.graph.figures import Assumptions, EntryBounds, Figure, UpperBound
from stagec.ir.graph.longest import unroll
from stagec.ir.graph.schedule_bounds import NodeTimes, ScheduleBounds, ScheduleWork
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan.act import Converse, Process
from stagec.ir.plan.codec import Count, words
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import load_agents
from stagec.ir.plan.node import Schedule


@value
class Repetition:
    """What one node may do more than once in an execution, or has done again: why ranges have two numbers."""

    node: Annotated[str, "The node."]
    attempts: Annotated[Count, "How often it may act in one execution."]
    wait_milliseconds: Annotated[Count, "How long it waits between attempts, all in all."]
    validators: Annotated[Count, "How many validators judge its end."]
    validations: Annotated[Count, "After how many failures the run ends as failed; 0 without validators."]
    on_failure: Annotated[str | None, "What a failed validation leads to.", words("retry", "abort", "skip")]


@value
class MoveWait:
    """How long a node waits before what follows an outcome."""

    node: Annotated[str, "The node."]
    outcome: Annotated[str, "The outcome."]
    milliseconds: Annotated[Count, "How long it waits each time."]


@value
class Bounds:
    """The bounds of every entry, what in the nodes repeats, and the waits between them, the longest first."""

    entries: tuple[EntryBounds, ...]
    repetitions: tuple[Repetition, ...]
    waits: tuple[MoveWait, ...] = ()

    @property
    def is_bounded(self) -> bool:
        """Whether no run can take any number of executions."""
        return all(each.executions.most is not None for each in self.entries)


def bound(plan: Plan, assumed: Assumed | Assumptions) -> Bounds:
    """Return how much runs of a plan take; raise `PlanError` for an agent's plan in it that cannot be used."""
    given = assumed if isinstance(assumed, Assumptions) else Assumptions(assumed)
    agents = _bound_agents(plan, given)
    entries = (_bound_entry(plan, name, given, agents) for name in plan.entries)
    return Bounds(tuple(entries), tuple(_list_repetitions(plan)), _list_waits(plan))


def bound_entry(plan: Plan, entry: str, given: Assumptions) -> EntryBounds:
    """Return how much runs take that begin at one entry of a plan."""
    return _bound_entry(plan, entry, given, _bound_agents(plan, given))


def _bound_agents(plan: Plan, given: Assumptions) -> Agents:
    """Return how much the runs of the agents take that a plan runs."""
    agents = load_agents(plan)
    return {name: _bound_entry(each.plan, str(each.plan.entry), given, NOTHING) for name, each in agents.items()}


def _bound_entry(plan: Plan, name: str, given: Assumptions, agents: Agents) -> EntryBounds:
    entry = plan.entries[name]
    if not isinstance(entry, str):
        return _ScheduleEntry(plan, entry, given).bound(name)
    return EntryRuns(unroll(plan), entry, given, agents).bound(name)


class _ScheduleEntry:
    """The runs of a plan that begin with a schedule."""

    def __init__(self, plan: Plan, schedule: Schedule, given: Assumptions) -> None:
        self._plan, self._schedule, self._assumed = plan, schedule, given.times
        others = (name for name in schedule.needs if not isinstance(plan.nodes[name].act, Process))
        unrolled = unroll(plan)
        self._walks = {name: EntryRuns(unrolled, name, given).bound(name) for name in others}

    def bound(self, entry: str) -> EntryBounds:
        """Return the bounds of what begins here; where a node may do anything any number of times, there are none."""
        figures = {measure: self._add(measure) for measure in Quantity}
        schedule = None
        if figures[Quantity.EXECUTIONS].upper.most is not None:
            schedule = self._measure()
            time = UpperBound(schedule.first, schedule.most)
        else:
            time = UpperBound(None, None)
        slowest = () if schedule is None else schedule.slowest
        figures[Quantity.MILLISECONDS] = replace(figures[Quantity.MILLISECONDS], upper=time, longest=slowest)
        return EntryBounds(
            entry=entry,
            node=None,
            figures=figures,
            cycles=tuple(each for walk in self._walks.values() for each in walk.cycles),
            is_cut=any(each.is_cut for each in self._walks.values()),
            schedule=schedule,
        )

    def _add(self, measure: Quantity) -> Figure:
        """Return the sum of a bound over all nodes of the schedule."""
        found = [each.figures[measure] for each in self._walks.values()]
        is_count = measure is Quantity.EXECUTIONS
        own = (len(self._schedule.needs) - len(found)) if is_count else 0
        most = (self._plan.limits.executions or MOST) if is_count else MOST
        least = _sum([each.least for each in found], own if is_count else 0, MOST)
        return Figure(
            UpperBound(
                _sum([each.upper.first for each in found], own, most),
                _sum([each.upper.most for each in found], own, most),
            ),
            None if least is None or (is_count and least > most) else 0 if measure is Quantity.MILLISECONDS else least,
            lacks=tuple(one for each in found for one in each.lacks),
        )

    def _measure(self) -> ScheduleBounds:
        """Return how long the schedule takes; what other nodes than processes do at the same time is not counted on."""
        places = 1 if self._walks else self._plan.limits.parallel
        times = {name: self._time(name) for name in self._schedule.needs}
        return ScheduleWork(self._schedule.needs, times, places).bound(self._plan.nodes)

    def _time(self, name: str) -> NodeTimes:
        node = self._plan.nodes[name]
        if name in self._walks:
            known = self._walks[name].milliseconds
            return NodeTimes(known.first or 0, known.first or 0, known.most or 0)
        first, most = (spend(node, self._assumed, is_retried=each).milliseconds for each in (False, True))
        planned = node.act.limits.warn if isinstance(node.act, Process) else first
        return NodeTimes(planned, first, most)


def _sum(parts: Sequence[int | None], own: int, most: int) -> int | None:
    known = [each for each in parts if each is not None]
    return min(most, own + sum(known)) if len(known) == len(parts) else None


def _list_waits(plan: Plan) -> tuple[MoveWait, ...]:
    edges = ((name, edge) for name, node in plan.nodes.items() for edge in node.edges if edge.wait)
    found = dict.fromkeys(MoveWait(name, edge.on, edge.wait) for name, edge in edges)
    return tuple(sorted(found, key=lambda each: -each.milliseconds))


def _list_repetitions(plan: Plan) -> Iterator[Repetition]:
    """Yield every node that may act more than once in an execution, or that is validated."""
    for name, node in plan.nodes.items():
        attempts = node.retry.attempts if node.retry is not None and isinstance(node.act, Converse | Process) else 1
        validation = node.validation
        if attempts > 1 or validation is not None:
            yield Repetition(
                node=name,
                attempts=attempts,
                wait_milliseconds=add_pauses(node) if attempts > 1 else 0,
                validators=0 if validation is None else len(validation.conditions) + len(validation.preflight),
                validations=0 if validation is None else validation.attempts,
                on_failure=None if validation is None else validation.action,
            )
