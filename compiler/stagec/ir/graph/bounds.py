"""Upper and lower bounds of the runs of a plan: executions, turns, calls, time, tokens and money.

What a run takes *at most* is said twice: `first` is the most if every first attempt succeeds and every validation
passes, `most` holds for every run. None where nothing bounds it. The lower bounds hold for every completed run in which
no agent fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from math import prod
from typing import Annotated

from stagec.core.memo import Memo
from stagec.core.value import NOTHING, replace, value
from stagec.ir.graph.figures import (
    FAIL,
    SHOWN,
    Assumptions,
    Ending,
    EntryBounds,
    Figure,
    Joint,
    Part,
    Unlimited,
    UpperBound,
    Way,
    Weight,
)
from stagec.ir.graph.longest import PlanWalks, UnrolledPlan, unroll
from stagec.ir.graph.schedule_bounds import NodeTimes, ScheduleBounds, ScheduleWork
from stagec.ir.graph.usage import (
    MOST,
    Assumed,
    Load,
    Loads,
    NodeUse,
    Quantity,
    add_pauses,
    can_stay_idle,
    cap,
    list_lacking,
    spend,
)
from stagec.ir.plan.act import Converse, Delegate, Process
from stagec.ir.plan.codec import Count, words
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import load_agents
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Outcome, Pick, Schedule, Stop, list_targets

Counts = Callable[[Part, str | None], bool]
"""Tells whether an outcome of a node counts, None being any but a failure."""
Weigh = Callable[[Part, str | None], int]
"""Returns what a node weighs with an outcome that counts."""


_Parts = tuple[Part | Joint, ...]
"""Parts of a run with what stands between them."""


@value
class _Choice:
    """One successor: its part, the weighed outcome, and the parts that follow with their links.

    Nothing is weighed of what several targets have in common.
    """

    part: Part
    on: str | None
    parts: _Parts = ()
    is_weighed: bool = True


class ShortestRuns:
    """The completed runs of a plan from one node on, as far as nobody fails who need not."""

    def __init__(self, plan: Plan, start: str, counts: Counts) -> None:
        self._plan, self._start, self._counts = plan, (start, Ending.DONE, False), counts
        self._choices = [*self._list_choices()]
        needed = [{each for each in choice.parts if not isinstance(each, Joint)} for choice in self._choices]
        self._missing = [len(each) for each in needed]
        self._waiting: dict[Part, list[int]] = {}
        for number, parts in enumerate(needed):
            for part in parts:
                self._waiting.setdefault(part, []).append(number)

    def find(self, weigh: Weigh) -> Weight | None:
        """Return the lightest completed run and its way; None where none is completed."""
        total, best = self._settle(weigh)
        if self._start not in total:
            return None
        todo: list[Part | Joint] = [self._start]
        way: list[str | Joint] = []
        while todo and len(way) < SHOWN:
            part = todo.pop()
            if isinstance(part, Joint) or part[0] in self._plan.nodes:
                way.append(part if isinstance(part, Joint) else part[0])
            if not isinstance(part, Joint):
                todo.extend(reversed(best[part].parts))
        return Weight(total[self._start], tuple(way))

    def _settle(self, weigh: Weigh) -> tuple[dict[Part, int], dict[Part, _Choice]]:
        """Settle the parts from the lightest to the heaviest; a choice counts when all that follows it is settled."""
        totals: dict[Part, int] = {}
        best: dict[Part, _Choice] = {}
        choices, missing = self._choices, [*self._missing]
        queue = [(_weigh(each, weigh, totals), at) for at, each in enumerate(choices) if not missing[at]]
        heapify(queue)
        while queue:
            total, settled = heappop(queue)
            choice = choices[settled]
            if choice.part in totals:
                continue
            totals[choice.part], best[choice.part] = total, choice
            for number in self._waiting.get(choice.part, ()):
                missing[number] -= 1
                if not missing[number]:
                    heappush(queue, (_weigh(choices[number], weigh, totals), number))
        return totals, best

    def _list_choices(self) -> Iterator[_Choice]:
        """Yield every way on from every part that a run may come to."""
        todo: list[Part] = [self._start]
        known = set(todo)
        for part in todo:  # grows while it is read
            for choice in self._list_ways(part):
                yield choice
                ahead = [each for each in choice.parts if not isinstance(each, Joint) and each not in known]
                known.update(ahead)
                todo.extend(dict.fromkeys(ahead))

    def _list_ways(self, part: Part) -> Iterator[_Choice]:
        name, mode, is_head = part
        if name not in self._plan.nodes:  # the choices that several targets have in common
            for each in dict.fromkeys(self._plan.choices[name.removeprefix(_HUB)].values()):
                yield _Choice(part, None, ((each, mode, False),), is_weighed=False)
            return
        node = self._plan.nodes[name]
        at_once: list[tuple[str | None, Iterator[_Parts]]] = [(None, iter([()]))] if is_head else []
        judged = isinstance(node.act, Converse)
        edges = (edge for edge in node.edges if not is_head or edge.on == FAIL)
        for on, found in (*at_once, *((edge.on, self._take(edge, mode, judged=judged)) for edge in edges)):
            if self._counts(part, on):
                yield from (_Choice(part, on, parts) for parts in found)

    def _take(self, edge: Edge, mode: Ending, *, judged: bool) -> Iterator[_Parts]:
        """Yield the successors of a taken edge, as one or another of several parts."""
        target = edge.target
        if isinstance(target, Stop) or target == Chain(()):
            ends = isinstance(target, Chain) or target.outcome is Outcome.DONE
            if ends and not (mode is Ending.JOINABLE and judged and edge.on == FAIL):
                yield ()
        elif isinstance(target, Pick):
            yield ((f"{_HUB}{target.choices}", mode, False),)
        elif isinstance(target, ForEach):  # its list may be empty
            yield () if target.join is None else ((target.join, mode, False),)
        elif isinstance(target, Fork | Chain | Schedule):
            yield from self._open(target, mode)
        else:
            yield from (((each, mode, False),) for each in dict.fromkeys(list_targets(target)))

    def _open(self, target: Fork | Chain | Schedule, mode: Ending) -> Iterator[_Parts]:
        """Yield the branches of a scope, and its join; nothing follows a fork with a single branch."""
        if isinstance(target, Chain):
            done = ((each, Ending.DONE, False) for each in target.nodes[:-1])
            yield (*done, (target.nodes[-1], mode, False))
        elif isinstance(target, Schedule):
            yield (*_join(tuple(target.needs), Ending.DONE, is_head=False),)
        elif len(target.nodes) > 1:
            within = Ending.DONE if target.join is None else Ending.JOINABLE
            join = () if target.join is None else ((target.join, mode, False),)
            yield (*_join(target.nodes, within, is_head=True), *join)


def _weigh(choice: _Choice, weigh: Weigh, totals: Mapping[Part, int]) -> int:
    """Return the weight of a choice with all its successors."""
    own = weigh(choice.part, choice.on) if choice.is_weighed else 0
    return min(MOST, own + sum(totals[each] for each in choice.parts if not isinstance(each, Joint)))


_HUB = "\0\0"
"""Begins the name of what stands for choices; no node of a plan that can be read begins so."""


def _join(names: Sequence[str], mode: Ending, *, is_head: bool) -> Iterator[Part | Joint]:
    yield Joint.OPEN
    for index, each in enumerate(names):
        part = (each, mode, is_head)
        yield from (Joint.NEXT, part) if index else (part,)
    yield Joint.CLOSE


Agents = Mapping[str, EntryBounds]
_FAILED = "failed"
"""The outcome of an agent that has failed."""


class EntryRuns:
    """The runs of a plan from one node on, with and without retries; `agents` are the bounds of the runs of agents."""

    def __init__(self, unrolled: UnrolledPlan, node: str, given: Assumptions, agents: Agents = NOTHING) -> None:
        plan = self._plan = unrolled.plan
        self._unrolled, self._node, self._agents = unrolled, node, agents
        self._plain, self._retried = _walk(plan, node)
        # the last phase of a run with all its transitions is one in which nothing is done
        self._acting, self._acting_again = self._plain, self._retried
        if plan.phases is not None:
            acting = replace(plan, limits=replace(plan.limits, executions=plan.phases.most))
            self._acting, self._acting_again = _walk(acting, node)
        use = NodeUse(plan, given.times, given.use, lambda name, wish: given.choose(unrolled.name(name), wish))
        self._loads = {name: self._weigh_agent(name) or use.weigh(name) for name in self._plain.nodes}
        self._memo = Memo()  # much of what is counted weighs the same: every turn of a flow in which nobody tries again

    def _weigh_agent(self, name: str) -> Loads | None:
        """Return the cost of an execution of a node that runs an agent: that of its run, and of the wait around it."""
        act, phases = self._plan.nodes[name].act, self._plan.phases
        if not isinstance(act, Delegate):
            return None
        pause = 0 if phases is None else phases.pause
        loads = {Quantity.EXECUTIONS: Load(1, 1, 1)}
        for measure, known in self._agents[act.agent].figures.items():
            if measure is not Quantity.EXECUTIONS:
                wait = pause if measure is Quantity.MILLISECONDS else 0
                first, most = (
                    None if each is None else min(MOST, each + wait) for each in (known.upper.first, known.upper.most)
                )
                lacks = tuple(each.what for each in known.lacks) or (() if most is not None else ("agent",))
                loads[measure] = Load((known.least or 0) + wait, first, most, lacks)
        return loads

    def bound(self, entry: str) -> EntryBounds:
        """Return the bounds of what begins here."""
        return EntryBounds(
            entry=entry,
            node=self._node,
            figures={measure: self._count(measure) for measure in Quantity},
            cycles=tuple(self._unrolled.list_names(each) for each in self._retried.cycles),
            is_cut=self._retried.is_cut,
        )

    def _count(self, measure: Quantity) -> Figure:
        """Return how much of one thing runs take."""
        is_count = measure is Quantity.EXECUTIONS
        plain, retried = (self._plain, self._retried) if is_count else (self._acting, self._acting_again)
        loads = {name: each[measure] for name, each in self._loads.items()}
        first = self._find_most(plain, measure, {name: each.first for name, each in loads.items()})
        most = self._find_most(retried, measure, {name: each.most for name, each in loads.items()})
        least = self._find_least(measure)
        lacking = (*list_lacking(self._loads, measure),)
        upper = UpperBound(None if first is None else first.total, None if most is None else most.total)
        if measure is Quantity.MILLISECONDS and self._plan.limits.deadline:  # then the run ends, whatever takes longer
            deadline, is_open = self._plan.limits.deadline, bool(lacking)
            found = (deadline if is_open or each is None else cap(each, deadline) for each in (upper.first, upper.most))
            upper, lacking = UpperBound(*found), ()
        return Figure(
            upper,
            None if least is None else least.total,
            self._name(most),
            self._name(least),
            tuple(Unlimited(kind, self._unrolled.list_names(names)) for kind, names in lacking),
        )

    def _name(self, found: Weight | None) -> Way:
        way = () if found is None else found.way
        return tuple(each if isinstance(each, Joint) else self._unrolled.name(each) for each in way)

    def _find_most(self, runs: PlanWalks, measure: Quantity, weights: Mapping[str, int | None]) -> Weight | None:
        """Return the longest run; without a limit each validation allows so many times more as it may fail."""
        known = {name: each for name, each in weights.items() if each is not None}
        if len(known) < len(weights):
            return None
        is_time = measure is Quantity.MILLISECONDS
        question = id(runs), is_time, tuple(known.values())
        return self._memo.once(question, lambda: self._weigh_most(runs, known, is_time=is_time))

    def _weigh_most(self, runs: PlanWalks, known: Mapping[str, int], *, is_time: bool) -> Weight | None:
        found = runs.find_slowest(known, self._plan.limits.parallel) if is_time else runs.find_longest(known)
        if found is not None or self._plain.cycles or self._plain.forks:
            return found
        plain = self._plain.find_longest(known, is_time=is_time)
        return None if plain is None else Weight(min(MOST, plain.total * self._count_failures()), plain.way)

    def _count_failures(self) -> int:
        validations = (self._plan.nodes[name].validation for name in self._plain.nodes)
        return min(MOST, prod(each.attempts for each in validations if each is not None and each.action == "retry"))

    @cached_property
    def _fewest(self) -> Weight | None:
        """The completed run with fewest executions."""
        return self._completed.find(self._weigh_least(Quantity.EXECUTIONS))

    @cached_property
    def _completed(self) -> ShortestRuns:
        """The completed runs in which no agent fails."""

        def counts(part: Part, on: str | None) -> bool:
            act = self._plan.nodes[part[0]].act
            return not (isinstance(act, Delegate) and (on == _FAILED or self._agents[act.agent].never_completes))

        return ShortestRuns(self._plan, self._node, counts)

    def _weigh_least(self, measure: Quantity) -> Weigh:
        plan = self._plan

        def weigh(part: Part, on: str | None) -> int:
            name, _, is_head = part
            if measure is not Quantity.EXECUTIONS and can_stay_idle(plan, name, on, is_head=is_head):
                return 0
            return self._loads[name][measure].least

        return weigh

    def _find_least(self, measure: Quantity) -> Weight | None:
        """Return the shortest completed run; a run that the limit ends counts if the limit completes it."""
        limits, fewest = self._plan.limits, self._fewest
        fits = fewest is not None and (limits.executions is None or fewest.total <= limits.executions)
        found = fewest if measure is Quantity.EXECUTIONS else self._find_lightest(measure) if fits else None
        if limits.executions is not None and limits.reached is Outcome.DONE and self._retried.is_cut:
            least = min((each[measure].least for each in self._loads.values()), default=0)
            # what begins together with the node that the limit refuses has not asked for anything
            asked = limits.executions - (limits.parallel if self._plain.forks else 0)
            whole = limits.executions
            if measure is not Quantity.EXECUTIONS:
                whole = 0 if self._can_idle else max(0, asked) * least
            if not fits or found is None or whole < found.total:
                return Weight(whole)
        return self._without_first_pause(measure, found) if fits and found is not None else None

    def _find_lightest(self, measure: Quantity) -> Weight | None:
        """Return the completed run that takes least of anything but executions."""
        question = "least", tuple(each[measure].least for each in self._loads.values())
        return self._memo.once(question, lambda: self._completed.find(self._weigh_least(measure)))

    @cached_property
    def _can_idle(self) -> bool:
        nodes = self._plain.nodes
        return any(can_stay_idle(self._plan, each, on, is_head=False) for each in nodes for on in ("ok", "fail"))

    def _without_first_pause(self, measure: Quantity, found: Weight) -> Weight:
        """Return a run without the wait before its first agent, which nothing comes before."""
        phases = self._plan.phases
        begins = phases is not None and isinstance(self._plan.nodes[self._node].act, Delegate)
        if phases is None or not begins or measure is not Quantity.MILLISECONDS:
            return found
        return replace(found, total=found.total - phases.pause)


def _walk(plan: Plan, node: str) -> tuple[PlanWalks, PlanWalks]:
    """Return the runs from a node on without retries, and with them, which are the same where nothing is retried."""
    plain = PlanWalks(plan, node, back=False)
    return plain, PlanWalks(plan, node, back=True) if plain.may_go_back else plain


@value
class Repetition:
    """The repetitions of a node in an execution or after a failed validation, for which ranges have two numbers."""

    node: Annotated[str, "The node."]
    attempts: Annotated[Count, "How often it may act in one execution."]
    wait_milliseconds: Annotated[Count, "How long it waits between attempts, all in all."]
    validators: Annotated[Count, "How many validators judge its end."]
    validations: Annotated[Count, "After how many failures the run ends as failed; 0 without validators."]
    on_failure: Annotated[str | None, "The effect of a failed validation.", words("retry", "abort", "skip")]


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
