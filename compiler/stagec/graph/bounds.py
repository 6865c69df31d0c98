"""How much a run of a plan takes at most: executions, turns of models and time, with and without retries.

A *range* says it twice: `first` is the most if every first attempt succeeds and every validation passes, `most` holds
for every run. None where nothing bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from stagec.core.value import NOTHING, replace, value
from stagec.graph.expense import MOST, Assumed, Expense, add_pauses, find_unlimited, spend
from stagec.graph.longest import Joint, Longest, PlanWalks, Way
from stagec.graph.schedule_bounds import NodeTimes, ScheduleBounds, ScheduleWork
from stagec.graph.unrolled import unroll
from stagec.plan.act import Converse, Delegate, Process
from stagec.plan.document import Plan
from stagec.plan.loader import load_agents
from stagec.plan.node import Entry, Schedule


@value
class UpperBound:
    """The most of something that a run takes, without and with retries; None where nothing bounds it."""

    first: int | None
    most: int | None


@value
class Unlimited:
    """What takes time that neither a plan nor its runner limits, and in which nodes."""

    kind: str
    nodes: tuple[str, ...]


@value
class EntryBounds:
    """What a run from one entry takes at most.

    `milliseconds` is the time that has a limit: all of it if `unlimited` is empty. `is_cut` tells that runs could be
    longer if the plan had no limit of executions. `longest` is the way with most executions and `slowest` one that
    takes the time, empty where the limit is all that is known. An entry that is a `schedule` has no `node`.
    """

    entry: str
    node: str | None
    executions: UpperBound
    turns: UpperBound
    milliseconds: UpperBound
    unlimited: tuple[Unlimited, ...]
    cycles: tuple[tuple[str, ...], ...]
    is_cut: bool
    longest: Way
    slowest: Way
    schedule: ScheduleBounds | None = None

    @property
    def time(self) -> UpperBound:
        """How long a run takes; None where something in it may take any time."""
        return UpperBound(None, None) if self.unlimited else self.milliseconds


@value
class Repetition:
    """What one node may do more than once in an execution, or has done again: why ranges have two numbers."""

    node: str
    attempts: int
    wait: int
    validations: int
    validated: int
    action: str | None


@value
class Bounds:
    """The bounds of every entry, and what in the nodes repeats."""

    entries: tuple[EntryBounds, ...]
    repetitions: tuple[Repetition, ...]

    @property
    def is_bounded(self) -> bool:
        """Whether no run can take any number of executions."""
        return all(each.executions.most is not None for each in self.entries)


def bound(plan: Plan, assumed: Assumed) -> Bounds:
    """Return how much runs of a plan take at most; raise `PlanError` for an agent's plan in it that cannot be used."""
    agents: dict[str, EntryBounds] = {}
    for agent, loaded in load_agents(plan).items():
        begun = loaded.plan.entries[str(loaded.plan.entry)]
        agents[agent] = _bound_entry(loaded.plan, str(loaded.plan.entry), begun, assumed)
    entries = (_bound_entry(plan, name, entry, assumed, agents) for name, entry in plan.entries.items())
    return Bounds(tuple(entries), tuple(_list_repetitions(plan)))


def _bound_entry(
    plan: Plan, name: str, entry: Entry, assumed: Assumed, agents: Mapping[str, EntryBounds] = NOTHING
) -> EntryBounds:
    if not isinstance(entry, str):
        return _ScheduleEntry(plan, entry, assumed).bound(name)
    unrolled = unroll(plan)
    found = _Entry(unrolled.plan, entry, assumed, agents).bound(name)
    return replace(
        found,
        unlimited=tuple(Unlimited(each.kind, unrolled.list_names(each.nodes)) for each in found.unlimited),
        cycles=tuple(unrolled.list_names(each) for each in found.cycles),
        longest=tuple(each if isinstance(each, Joint) else unrolled.name(each) for each in found.longest),
        slowest=tuple(each if isinstance(each, Joint) else unrolled.name(each) for each in found.slowest),
    )


class _Entry:
    """The runs of a plan from one node on, with and without retries; `agents` are the bounds of the runs of agents."""

    def __init__(self, plan: Plan, node: str, assumed: Assumed, agents: Mapping[str, EntryBounds] = NOTHING) -> None:
        self._plan, self._node, self._assumed, self._agents = plan, node, assumed, agents
        self._plain, self._retried = PlanWalks(plan, node, back=False), PlanWalks(plan, node, back=True)
        # the last phase of a run with all its transitions is one in which nothing is done
        self._acting, self._acting_again = self._plain, self._retried
        if plan.phases is not None:
            acting = replace(plan, limits=replace(plan.limits, executions=plan.phases.most))
            self._acting, self._acting_again = (PlanWalks(acting, node, back=each) for each in (False, True))
        self._first, self._most = self._spend(is_retried=False), self._spend(is_retried=True)

    def _spend(self, *, is_retried: bool) -> Mapping[str, Expense]:
        return {name: self._spend_in(name, is_retried=is_retried) for name in self._plain.nodes}

    def _spend_in(self, name: str, *, is_retried: bool) -> Expense:
        """Return what one execution of a node costs; that of an agent what its run does, and the wait after it."""
        node, phases = self._plan.nodes[name], self._plan.phases
        if not isinstance(node.act, Delegate):
            return spend(node, self._assumed, is_retried=is_retried)
        known = self._agents[node.act.agent]
        turns, time = (each.most if is_retried else each.first for each in (known.turns, known.milliseconds))
        turn = self._assumed.turn or 0  # which is counted once for each turn, in the run around
        asked, lasts = (MOST if each is None else each for each in (turns, time))
        return Expense(asked, min(MOST, max(0, lasts - asked * turn) + (0 if phases is None else phases.pause)))

    def bound(self, entry: str) -> EntryBounds:
        """Return the bounds of what begins here."""
        steps = dict.fromkeys(self._plain.nodes, 1)
        first, most = self._longest(self._plain, steps), self._longest(self._retried, steps)
        time_first, time_most = self._measure(self._acting, self._first), self._measure(self._acting_again, self._most)
        return EntryBounds(
            entry=entry,
            node=self._node,
            executions=_range(first, most),
            turns=_range(
                self._longest(self._acting, _turns(self._first)), self._longest(self._acting_again, _turns(self._most))
            ),
            milliseconds=_range(time_first, time_most),
            unlimited=tuple(self._list_unlimited()),
            cycles=self._retried.cycles,
            is_cut=self._retried.is_cut,
            longest=() if most is None else most.way,
            slowest=() if time_most is None else time_most.way,
        )

    def _longest(self, runs: PlanWalks, weights: Mapping[str, int]) -> Longest | None:
        """Return the longest run; without a limit each validation allows so many times more as it may fail."""
        found = runs.find_longest(weights)
        if found is not None or self._plain.cycles or self._plain.forks:
            return found
        plain = self._plain.find_longest(weights)
        return None if plain is None else Longest(min(MOST, plain.most * self._count_failures()), plain.way)

    def _count_failures(self) -> int:
        validations = (self._plan.nodes[name].validation for name in self._plain.nodes)
        return min(MOST, prod(each.attempts for each in validations if each is not None and each.action == "retry"))

    def _measure(self, runs: PlanWalks, expenses: Mapping[str, Expense]) -> Longest | None:
        """Return the run that takes longest in what has a limit."""
        turn = self._assumed.turn or 0
        times = {name: min(MOST, each.milliseconds + each.turns * turn) for name, each in expenses.items()}
        found = runs.find_slowest(times, self._plan.limits.parallel)
        return self._longest(runs, times) if found is None else found

    def _list_unlimited(self) -> Iterator[Unlimited]:
        nodes: dict[str, list[str]] = {}
        for name in self._plain.nodes:
            act = self._plan.nodes[name].act
            inner = self._agents[act.agent].unlimited if isinstance(act, Delegate) else ()
            for kind in (*find_unlimited(self._plan, name, self._assumed), *(each.kind for each in inner)):
                nodes.setdefault(kind, []).append(name)
        return (Unlimited(kind, tuple(names)) for kind, names in nodes.items())


class _ScheduleEntry:
    """The runs of a plan that begin with a schedule."""

    def __init__(self, plan: Plan, schedule: Schedule, assumed: Assumed) -> None:
        self._plan, self._schedule, self._assumed = plan, schedule, assumed
        others = (name for name in schedule.needs if not isinstance(plan.nodes[name].act, Process))
        self._walks = {name: _Entry(plan, name, assumed).bound(name) for name in others}

    def bound(self, entry: str) -> EntryBounds:
        """Return the bounds of what begins here; where a node may do anything any number of times, there are none."""
        executions, turns = self._add("executions", 1), self._add("turns", 0)
        milliseconds, schedule = UpperBound(None, None), None
        if executions.most is not None:
            schedule = self._measure()
            milliseconds = UpperBound(schedule.first, schedule.most)
        return EntryBounds(
            entry=entry,
            node=None,
            executions=executions,
            turns=turns,
            milliseconds=milliseconds,
            unlimited=tuple(each for walk in self._walks.values() for each in walk.unlimited),
            cycles=tuple(each for walk in self._walks.values() for each in walk.cycles),
            is_cut=any(each.is_cut for each in self._walks.values()),
            longest=(),
            slowest=() if schedule is None else schedule.slowest,
            schedule=schedule,
        )

    def _add(self, member: str, process: int) -> UpperBound:
        """Return the sum of a bound over all nodes of the schedule."""
        found: list[UpperBound] = [getattr(each, member) for each in self._walks.values()]
        own = process * (len(self._schedule.needs) - len(found))
        most = self._plan.limits.executions or MOST if member == "executions" else MOST
        return UpperBound(
            _sum([each.first for each in found], own, most), _sum([each.most for each in found], own, most)
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


def _turns(expenses: Mapping[str, Expense]) -> Mapping[str, int]:
    return {name: each.turns for name, each in expenses.items()}


def _range(first: Longest | None, most: Longest | None) -> UpperBound:
    return UpperBound(None if first is None else first.most, None if most is None else most.most)


def _list_repetitions(plan: Plan) -> Iterator[Repetition]:
    """Yield every node that may act more than once in an execution, or that is validated."""
    for name, node in plan.nodes.items():
        attempts = node.retry.attempts if node.retry is not None and isinstance(node.act, Converse | Process) else 1
        validation = node.validation
        if attempts > 1 or validation is not None:
            yield Repetition(
                node=name,
                attempts=attempts,
                wait=add_pauses(node) if attempts > 1 else 0,
                validations=0 if validation is None else len(validation.conditions) + len(validation.preflight),
                validated=0 if validation is None else validation.attempts,
                action=None if validation is None else validation.action,
            )
