"""Find few runs that cover a program, or the shortest run that comes to a node; and say what no run covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from stagec.core.json import object_of, text_in
from stagec.core.value import value
from stagec.flow_tests.coverage import CoveredPart, describe_part, find_part, list_parts
from stagec.flow_tests.paths.choices import AgentEnding, Chooser, list_verdicts
from stagec.flow_tests.paths.schedules import play_schedules
from stagec.flow_tests.paths.search import END, PATIENCE, Arc, Item, Played, Player, SearchGraph
from stagec.flow_tests.paths.starts import list_starts
from stagec.flow_tests.paths.walker import Walker, limit_of
from stagec.flow_tests.scenario_writing import write_scenario
from stagec.graph.cover import Leg, WayCover
from stagec.graph.narrow_cover import NarrowCover
from stagec.plan import Plan
from stagec.plan.gate import JudgeGate
from stagec.plan.node import Chain, Edge, Fork, Pick, Schedule, list_targets
from stagec.runtime import Program, Started
from stagec.runtime.failures import FailureKind

_EDGES = ("edge", "case")
_NEAR, _FAR = 3, 10**9
"""How near to the limit a run has come that the limit may have cut short, and a limit that nothing comes to."""
_ROOM = 6_000
"""Executions of the runs of one set together: runs of long flows, one for each way to fail, would grow with the square
of the flow."""
_PLANNED = 1_000
"""Nodes of a plan for which few ways are planned, which takes time with the square of them; above, each run goes to the
nearest things that are missing."""
_BOUNDS = frozenset({FailureKind.BOUND, FailureKind.CYCLES, FailureKind.REPETITION, FailureKind.CHAIN_EXHAUSTED})


@value
class Missing:
    """Something that no run covers, and why."""

    item: Item
    told: str
    why: str


@value
class FoundRuns:
    """Runs of a program, and what none of them covers."""

    runs: tuple[Played, ...]
    missing: tuple[Missing, ...] = ()


def list_items(plan: Plan, *, pairs: bool = False) -> tuple[Item, ...]:
    """Return all parts of a plan that are counted; with `pairs`, also the pairs of edges that can follow each other."""
    found: list[Item] = [*list_parts(plan)]
    if pairs:
        edges = [(name, number) for name, node in plan.nodes.items() for number in range(len(node.edges))]
        for name, number in edges:
            for end in _list_ends(plan, plan.nodes[name].edges[number]):
                found += [((name, number), (end, at)) for at in range(len(plan.nodes[end].edges))]
    return tuple(found)


def _list_ends(plan: Plan, edge: Edge) -> Iterable[str]:
    """Return the nodes that come next after an edge; a join comes after the branches of its fork."""
    target = edge.target
    if isinstance(target, Fork):
        return target.nodes
    if isinstance(target, Pick):
        return dict.fromkeys(plan.choices[target.choices].values())
    return list_targets(target)[:1] if isinstance(target, Chain) else dict.fromkeys(list_targets(target))


@value
class _PlannedRun:
    """What a run is to cover: the numbers of its legs, how much it executes, and how many items its legs have."""

    way: Sequence[int]
    executions: int
    count: int
    items: Sequence[tuple[Item, ...]]

    def list_items(self) -> list[Item]:
        """Return what is to be covered, in its order."""
        return [item for at in self.way for item in self.items[at]]


def _count_executions(planned: _PlannedRun) -> int:
    return planned.executions


class PathFinder:
    """Searches the runs of one program, from all entries or from one."""

    def __init__(
        self,
        program: Program,
        *,
        entry: str | None = None,
        pairs: bool = False,
        verdicts: tuple[str, ...] | None = None,
    ) -> None:
        self._program, self._pairs = program, pairs
        endings = {name: find_endings(each, list_verdicts(program.plan, name)) for name, each in program.agents.items()}
        self._is_cut = False
        self._player = Player(program, Chooser(program, endings, verdicts), pairs=pairs)
        self._items = list_items(program.plan, pairs=pairs)
        self._most = limit_of(program.plan) or _FAR
        first, others = list_starts(program, entry)
        self._search(first)
        if others and not self._known.issuperset(self._items):
            self._search((*first, *others))

    def _search(self, starts: tuple[Started, ...]) -> None:
        self._starts = starts
        entries = self._program.plan.entries.values()
        begun = () if any(isinstance(each, Schedule) for each in entries) else starts
        self.graph = SearchGraph(self._player, begun)
        self.walker = Walker(self._program, self.graph, self._player)
        self._known: set[Item] = {item for arc in self._list_arcs() for item in arc.items}

    def _list_arcs(self) -> Iterator[Arc]:
        yield from self.graph.first
        yield from (arc for arcs in self.graph.arcs for arc in arcs)

    def cover(self) -> FoundRuns:
        """Return few runs that cover everything that can be covered."""
        scheduled = play_schedules(self._program, self._player, self._starts)
        wanted = frozenset(self._known.intersection(self._items))
        orders = self._choose_ways(wanted) if len(self._program.plan.nodes) <= _PLANNED else ()
        tried = [self._walk_all(orders, wanted)] if wanted else []
        is_near = any(each.state.executions >= self._most - _NEAR for some in tried for each in some)
        if is_near and not self._is_cut:
            tried.append(self._walk_all((each.list_items() for each in self._plan_ways(wanted, NarrowCover)), wanted))
            tried.append(self._walk_all([], wanted))  # the nearest first may need less than what is planned
        kept = _leave_out(
            [
                *scheduled,
                *min(tried, key=lambda some: (len(some), sum(each.state.executions for each in some)), default=()),
            ],
            frozenset(self._items),
        )
        covered = frozenset(item for each in kept for item in each.items)
        return FoundRuns(tuple(kept), tuple(self._explain(each) for each in self._items if each not in covered))

    def _choose_ways(self, wanted: frozenset[Item]) -> Iterator[list[Item]]:
        """Yield what each run is to cover: of more ways than there is room for the one with most, then the shortest."""
        planned = [*self._plan_ways(wanted, WayCover)]
        if sum(each.executions for each in planned) > _ROOM:
            longest = max(planned, key=lambda each: each.count)
            planned = [longest, *sorted((each for each in planned if each is not longest), key=_count_executions)]
        yield from (each.list_items() for each in planned)

    def _walk_all(self, orders: Iterable[list[Item]], wanted: frozenset[Item]) -> list[Played]:
        """Return runs that come to things in some orders, and more of them for what is left, while there is room."""
        made: list[Played] = []
        left, room = wanted, _ROOM
        waiting = iter(orders)
        while left and room > 0:
            order = next(waiting, None)
            run = self.walker.walk((), left) if order is None else self.walker.walk(order)
            if order is None and (run is None or left.isdisjoint(run.items)):
                break
            if run is not None:
                made.append(run)
                left, room = left - run.items, room - run.state.executions
        self._is_cut = self._is_cut or (bool(left) and room <= 0)
        return _leave_out(made, frozenset(self._items))

    def reach(self, node: str) -> FoundRuns:
        """Return the shortest run that comes to a node."""
        part = CoveredPart("node", node)
        scheduled = play_schedules(self._program, self._player, self._starts)
        found = next((each for each in scheduled if part in each.items), None)
        found = found or self.walker.find(lambda arc: part in arc.items)
        return FoundRuns((), (self._explain(part),)) if found is None else FoundRuns((found,))

    def end(self, outcome: str, verdict: str | None) -> Played | None:
        """Return the shortest run that ends in a way and whose last answer has a verdict, or none."""
        return self.walker.find(
            lambda arc: (
                arc.outcome == outcome and text_in(object_of(object_of(arc.last).get("answer")), "verdict") == verdict
            )
        )

    def _plan_ways(self, wanted: Collection[Item], kind: type[WayCover | NarrowCover]) -> Iterator[_PlannedRun]:
        """Yield what each run is to cover: few ways through the positions."""
        numbers: dict[Hashable, int] = {"start": 0, "end": 1}
        legs: dict[tuple[int, int, frozenset[Item]], int] = {}
        for arc in self._list_arcs():
            source = 0 if arc in self.graph.first else self._number(numbers, arc.source)
            key = (source, self._number(numbers, arc.target), arc.items.intersection(wanted))
            legs[key] = min(legs.get(key, arc.executions), arc.executions)
        demanded: set[object] = set()
        left = set(wanted)
        for leg in legs:  # in the order in which they were found; one for each thing is enough
            if not left.isdisjoint(leg[2]):
                demanded.add(leg)
                left -= leg[2]
        made = [
            Leg(source, target, legs[source, target, items], (source, target, items) in demanded)
            for source, target, items in legs
        ]
        endless = {self._number(numbers, at) for at in range(len(self.graph.arcs)) if self.walker.is_endless(at)}
        items = [tuple(sorted(each, key=str)) for _, _, each in legs]
        for way in kind(made, (0,), {1, *endless}, limit_of(self._program.plan)).find():
            yield _PlannedRun(way, sum(made[at].cost for at in way), sum(len(items[at]) for at in way), items)

    def _number(self, numbers: dict[Hashable, int], position: int) -> int:
        if position == END:
            return 1
        found = self.graph.positions[position]
        return numbers.setdefault((found.place, found.memory) if self._pairs else found.place, len(numbers))

    def _explain(self, item: Item) -> Missing:
        """Return why nothing covers a part of a plan or a pair of edges."""
        plan = self._program.plan
        cut = ""
        if self._is_cut and item in self._known:
            cut = f"not written: the other runs have {_ROOM:,} executions together, which is the most; see '--to'"
        if isinstance(item, CoveredPart):
            noun = f"{plan.names.node} " if item.kind == "node" else ""
            return Missing(item, f"{noun}{describe_part(plan, item)}", cut or self._explain_part(item))
        parts = [find_part(plan, (*edge, "")) for edge in item]
        return Missing(
            item, ", then ".join(describe_part(plan, each) for each in parts), cut or self._explain_node(item[1][0])
        )

    def _explain_part(self, part: CoveredPart) -> str:
        node = self._program.plan.nodes[part.node]
        if CoveredPart("node", part.node) not in self._known:
            return self._explain_node(part.node)
        if part.kind == "rule":
            return "no answer was found to which it applies"
        edge = node.edges[part.number]
        targets = (each.target for one in self._program.plan.nodes.values() for each in one.edges)
        if any(isinstance(each, Fork) and part.node in each.nodes for each in targets) and edge.on != "fail":
            return "its branch of the fork ends where this edge would count"
        if isinstance(node.gate, JudgeGate):
            return f"the judge of the work never gives {edge.on!r} there"
        if any(
            isinstance(each, CoveredPart)
            and each.node == part.node
            and each.kind in _EDGES
            and node.edges[each.number].on == edge.on
            for each in self._known
        ):
            return "no answer was found that takes it; other edges take those that have its outcome"
        return f"no answer was found that satisfies the schema and has the outcome {edge.on!r}"

    def _explain_node(self, node: str) -> str:
        if not self.graph.is_whole:
            return f"no run to it was found, and {PATIENCE:,} further answers led to nothing new"
        stuck = [each for each in self.graph.failures if each[1] == FailureKind.UNSTARTABLE]
        own = next((each for each in stuck if each[0] == node), None)
        if own is not None:
            return f"it cannot start: {self.graph.failures[own]}"
        if stuck:
            return f"no run reaches it: '{stuck[0][0]}' cannot start: {self.graph.failures[stuck[0]]}"
        if any(kind in _BOUNDS for _, kind in self.graph.failures):
            return "no run reaches it, and limits end some runs first"
        return "no run reaches it"


def _leave_out(runs: list[Played], items: frozenset[Item]) -> list[Played]:
    """Return runs without those that cover nothing alone, the longest of them first."""
    times = Counter(item for each in runs for item in each.items)
    idle: set[int] = set()  # by position: runs that begin alike may be one object
    for at, run in sorted(enumerate(runs), key=lambda each: len(each[1].answered), reverse=True):
        if all(times[item] > 1 for item in run.items & items):
            idle.add(at)
            times.subtract(run.items)
    return [each for at, each in enumerate(runs) if at not in idle]


def find_endings(program: Program, verdicts: tuple[str, ...]) -> tuple[AgentEnding, ...]:
    """Return runs of an agent that end differently: as done or failed, without a verdict or with one of some."""
    finder = PathFinder(program, verdicts=verdicts)
    found: list[AgentEnding] = []
    for outcome in ("done", "failed"):
        for verdict in (None, *verdicts):
            run = finder.end(outcome, verdict)
            if run is not None:
                scenario = write_scenario(program.plan, run.started, run.answered)
                found.append(AgentEnding(outcome if verdict is None else f"{outcome} {verdict}", scenario))
    return tuple(found)
