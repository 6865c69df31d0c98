"""The runs of a plan from one node on: how much they take of everything that is counted, and by which way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod

from stagec.core.value import NOTHING, replace
from stagec.graph.expense import MOST
from stagec.graph.figures import Assumptions, EntryBounds, Figure, Unlimited, UpperBound
from stagec.graph.longest import PlanWalks
from stagec.graph.shortest import ShortestRuns, Weigh
from stagec.graph.unrolled import UnrolledPlan
from stagec.graph.usage import Load, Loads, NodeUse, Quantity, can_stay_idle, list_lacking
from stagec.graph.way import Joint, Part, Way, Weight
from stagec.plan.act import Delegate
from stagec.plan.document import Plan
from stagec.plan.node import Outcome

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

    def _weigh_agent(self, name: str) -> Loads | None:
        """Return what an execution of a node costs that runs an agent: what its run does, and the wait around it."""
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
                lacks = tuple(each.kind for each in known.lacks) or (() if most is not None else ("agent",))
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
        return Figure(
            UpperBound(None if first is None else first.total, None if most is None else most.total),
            None if least is None else least.total,
            self._name(most),
            self._name(least),
            tuple(
                Unlimited(kind, self._unrolled.list_names(names)) for kind, names in list_lacking(self._loads, measure)
            ),
        )

    def _name(self, found: Weight | None) -> Way:
        way = () if found is None else found.way
        return tuple(each if isinstance(each, Joint) else self._unrolled.name(each) for each in way)

    def _find_most(self, runs: PlanWalks, measure: Quantity, weights: Mapping[str, int | None]) -> Weight | None:
        """Return the longest run; without a limit each validation allows so many times more as it may fail."""
        known = {name: each for name, each in weights.items() if each is not None}
        if len(known) < len(weights):
            return None
        if measure is Quantity.MILLISECONDS:
            found = runs.find_slowest(known, self._plan.limits.parallel)
        else:
            found = runs.find_longest(known)
        if found is not None or self._plain.cycles or self._plain.forks:
            return found
        plain = self._plain.find_longest(known)
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
        """Return the completed run that takes least, or the one that the limit ends, where that completes it."""
        limits, fewest = self._plan.limits, self._fewest
        fits = fewest is not None and (limits.executions is None or fewest.total <= limits.executions)
        if measure is Quantity.EXECUTIONS:
            found = fewest
        else:
            found = self._completed.find(self._weigh_least(measure)) if fits else None
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
