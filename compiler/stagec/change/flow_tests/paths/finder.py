"""Find few runs that cover a program, or the shortest run to a node, and list the parts that no run covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import count, groupby

from stagec.change.flow_tests.coverage import (
    Coverage,
    CoveredPart,
    describe_part,
    find_part,
    list_parts,
    list_parts_run,
    measure_coverage,
)
from stagec.change.flow_tests.document import FlowTest, WrittenTest
from stagec.change.flow_tests.execution import Observation, run_test
from stagec.change.flow_tests.paths.choices import AgentEnding, Chooser, list_verdicts
from stagec.change.flow_tests.paths.positions import list_starts
from stagec.change.flow_tests.paths.search import END, Arc, Item, Played, Player, SearchGraph
from stagec.change.flow_tests.scenario_writing import write_scenario
from stagec.change.flow_tests.watched_steps import WatchedSteps
from stagec.core.json import Json, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.ir.graph.cover import Leg, NarrowCover, WayCover
from stagec.ir.plan import Plan
from stagec.ir.plan.gate import JudgeGate
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Pick, Schedule, list_targets
from stagec.runtime.machine import Effect, Program, Started
from stagec.runtime.machine.exchange import Execute, choose_next, read_key
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.world.scenario import parse_scenario

_LONGEST = 20_000
"""Choices of one run."""
_WALKER_FAR = 10**9
_KEPT = 400_000
"""Items and branches of all runs on their way that are kept, because others begin with the same choices."""


@value
class WalkedRun:
    """A run on its way: what it was before, and what has happened since.

    `number` is that of its position, None where it is unknown; `room` is how much it may still execute.
    """

    played: Played
    number: int | None = None
    room: int = _WALKER_FAR
    before: WalkedRun | None = None


class _Way:
    """The current run: the parts that it has covered, and those that it has yet to cover."""

    def __init__(self) -> None:
        self.standing: WalkedRun | None = None
        self.items: set[Item] = set()
        self.left: set[Item] = set()

    def take(self, standing: WalkedRun) -> None:
        """Go on to where a run stands after one more choice."""
        self.standing = standing
        self.items |= standing.played.items
        self.left -= standing.played.items

    def list_answered(self) -> Iterator[tuple[Effect, Json]]:
        """Yield all requests of the run with their answers."""
        parts, reached = [], self.standing
        while reached is not None:
            parts.append(reached.played.answered)
            reached = reached.before
        yield from (each for part in reversed(parts) for each in part)


class Walker:
    """Makes runs of a program by what a search has found."""

    def __init__(self, program: Program, graph: SearchGraph, player: Player) -> None:
        self._graph, self._player = graph, player
        self._room = limit_of(program.plan) or _WALKER_FAR
        self._left = self._measure_left()
        self._least = min((arc.cost for arcs in graph.arcs for arc in arcs), default=0)
        self._begun: dict[int, WalkedRun] = {}
        self._taken: dict[tuple[int, str], tuple[WalkedRun, WalkedRun]] = {}
        self._kept = 0
        going = (arc for arcs in (graph.first, *graph.arcs) for arc in arcs if arc.target != END)
        self._before_ends = {item for arc in going for item in arc.items}

    def walk(self, order: Iterable[Item], others: Collection[Item] = ()) -> Played | None:
        """Return a run that comes to some items in their order, then to the nearest of others, and to an end.

        Items that it cannot come to are left out. None where no run comes to any.
        """
        way = _Way()
        for item in order:
            if item not in way.items:
                self._go_to_nearest(way, {item})
        way.left.update(set(others) - way.items)
        while self._go_to_nearest(way, way.left):
            pass
        return self._end(way)

    def _go_to_nearest(self, way: _Way, left: Collection[Item]) -> bool:
        if not left:
            return False
        # without the first condition the whole graph would be searched in vain
        return (
            not self._before_ends.isdisjoint(left)
            and self._go(way, lambda arc: arc.target != END and not arc.items.isdisjoint(left))
        ) or self._go(way, lambda arc: not arc.items.isdisjoint(left))

    def find(self, wanted: Callable[[Arc], bool]) -> Played | None:
        """Return the shortest run with an arc that is wanted, to an end."""
        way = _Way()
        return self._end(way) if self._go(way, wanted) else None

    def _go(self, way: _Way, wanted: Callable[[Arc], bool]) -> bool:
        """Go on to the nearest arc that is wanted, and tell whether any can be come to."""
        standing = way.standing
        if standing is not None and (standing.played.state.ended is not None or standing.number is None):
            return False
        route = self._find_route(standing, wanted)
        if route is None:
            return False
        if standing is None:
            at = next(at for at, each in enumerate(self._graph.first) if each is route[0])
            standing = self._begin(at, route[0])
            way.take(standing)
            route = route[1:]
        for arc in route:
            following = self._take(standing, arc)
            if following is None:
                break  # what was counted on the way leads elsewhere
            standing = following
            way.take(standing)
        return True

    def _begin(self, at: int, arc: Arc) -> WalkedRun:
        if at not in self._begun:
            begun = replace(self._player.start(self._graph.starts[at]), start=at)
            self._begun[at] = WalkedRun(begun, self._locate(begun), self._room - arc.executions)
        return self._begun[at]

    def _take(self, standing: WalkedRun, arc: Arc) -> WalkedRun | None:
        """Return a run after a choice; None where there is no such choice now."""
        if standing.number != arc.source or standing.played.state.ended is not None:
            return None
        key = (id(standing), arc.choice)
        if key in self._taken:
            return self._taken[key][1]
        choices = self._player.find_choices(standing.played)
        choice = next((each for each in choices if each.name == arc.choice), None)
        # only what is new, so that runs which begin alike have it in common
        fresh = replace(standing.played, answered=(), items=frozenset[Item]())
        played = None if choice is None else self._player.play(fresh, choice)
        if played is None:
            return None
        after = WalkedRun(played, self._locate(played), self._room - played.state.executions, standing)
        width = len(played.items) + len(played.state.active) + len(played.state.waiting)
        if self._kept < _KEPT:
            self._kept += width
            self._taken[key] = standing, after  # which keeps the first one, so that no other has its id
        return after

    def _locate(self, played: Played) -> int | None:
        if played.state.ended is not None:
            return END
        return self._graph.number(played.start, self._player.find_position(played))

    def _end(self, way: _Way) -> Played | None:
        """Return a run that has come to an end: the nearest, or the one to which limits lead. None has not begun."""
        self._go(way, lambda arc: arc.target == END)
        if way.standing is None:
            return None
        if way.standing.played.state.ended is None:
            way.take(WalkedRun(self._play_on(way.standing.played), before=way.standing))
        return replace(way.standing.played, answered=(*way.list_answered(),), items=frozenset(way.items))

    def _play_on(self, played: Played) -> Played:
        """Return the rest of a run in which every request gets its first answer."""
        played = replace(played, answered=(), items=frozenset[Item]())
        for _ in range(_LONGEST):
            if played.state.ended is not None:
                break
            choices = self._player.find_choices(played)
            played = next(after for each in choices if (after := self._player.play(played, each)) is not None)
        return played

    def _find_route(self, standing: WalkedRun | None, wanted: Callable[[Arc], bool]) -> tuple[Arc, ...] | None:
        """Return the cheapest arcs to one that is wanted, with room for the way from there to an end."""
        begin = self._graph.first if standing is None else self._graph.arcs[standing.number or 0]
        room = self._room if standing is None else standing.room
        order, bound = count(), _WALKER_FAR  # what is found later and costs as much as what is wanted comes too late
        queue: list[tuple[int, int, int, Arc, int | None]] = []
        came: list[tuple[Arc, int | None]] = []
        done: set[int] = set()
        for arc in begin:
            if arc.executions + self._left.get(arc.target, 0) <= room and arc.cost < bound:
                heappush(queue, (arc.cost, next(order), arc.executions, arc, None))
                bound = arc.cost if wanted(arc) else bound
        while queue:
            cost, _, executions, arc, before = heappop(queue)
            if cost == bound and wanted(arc):
                return self._trace(came, arc, before)
            if arc.target == END or arc.target in done or cost + self._least >= bound:
                continue
            done.add(arc.target)
            came.append((arc, before))
            for each in self._graph.arcs[arc.target]:
                costs, many = cost + each.cost, executions + each.executions
                if costs < bound and many + self._left.get(each.target, 0) <= room:
                    heappush(queue, (costs, next(order), many, each, len(came) - 1))
                    bound = costs if wanted(each) else bound
        return None

    def _trace(self, came: list[tuple[Arc, int | None]], last: Arc, before: int | None) -> tuple[Arc, ...]:
        route = [last]
        while before is not None:
            arc, before = came[before]
            route.append(arc)
        return tuple(reversed(route))

    def _measure_left(self) -> dict[int, int]:
        """Return how many executions a run needs at least to come to an end; nothing where only a limit ends it."""
        coming: dict[int, list[Arc]] = {}
        for arcs in self._graph.arcs:
            for arc in arcs:
                coming.setdefault(arc.target, []).append(arc)
        found: dict[int, int] = {}
        queue = [(0, END)]
        while queue:
            left, number = heappop(queue)
            if number in found:
                continue
            found[number] = left
            for arc in coming.get(number, ()):
                heappush(queue, (left + arc.executions, arc.source))
        return found

    def is_endless(self, number: int) -> bool:
        """Tell whether only a limit ends runs that have come to a position."""
        return number not in self._left


def limit_of(plan: Plan) -> int | None:
    """Return how many executions a run has at most, None if nothing limits them."""
    limits = [plan.limits.executions, None if plan.phases is None else plan.phases.most + 1]
    return min((each for each in limits if each is not None), default=None)


_OTHERWISE = ("failure", "interrupted")


def play_schedules(program: Program, player: Player, starts: Iterable[Started]) -> Iterator[Played]:
    """Yield runs that cover the schedules with which a program begins; none where it begins with a node.

    A node that has not succeeded keeps those from running that need it. Along a chain of nodes, therefore, each ending
    needs a run of its own; nodes that do not need each other can end otherwise in the same run.
    """
    for at, started in enumerate(starts):
        entry = program.plan.entries[str(started.entry if started.entry is not None else program.plan.entry)]
        if isinstance(entry, Schedule):
            begun = replace(player.start(started), start=at)
            yield _play(player, begun, "success", ())
            left = dict(entry.needs)
            while left:  # the nodes that need nothing, then those that need only these, and so on
                level = frozenset(name for name, needs in left.items() if left.keys().isdisjoint(needs))
                yield from (_play(player, begun, ending, level) for ending in _OTHERWISE)
                left = {name: needs for name, needs in left.items() if name not in level}


def _play(player: Player, played: Played, ending: str, level: Collection[str]) -> Played:
    """Return a run in which some nodes end in a way, and all others succeed."""
    while played.state.ended is None:
        effect = choose_next(played.state.pending.values())
        named = ending if isinstance(effect, Execute) and read_key(effect.key).node in level else "success"
        choices = tuple(player.find_choices(played))
        choice = next((each for each in choices if each.name == named), choices[0])
        played = player.play(played, choice) or played
    return played


_EDGES = ("edge", "case")
_NEAR, _FINDER_FAR = 3, 10**9
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
    """A planned run: the numbers of its legs, its executions, and the count of items of its legs."""

    way: Sequence[int]
    executions: int
    count: int
    items: Sequence[tuple[Item, ...]]

    def list_items(self) -> list[Item]:
        """Return the items to cover, in order."""
        return [item for at in self.way for item in self.items[at]]


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
        self.steps = self._player.steps
        self._items = list_items(program.plan, pairs=pairs)
        self._most = limit_of(program.plan) or _FINDER_FAR
        first, others = list_starts(program, entry)
        self._search(first)
        if others and not self.graph.is_too_wide and not self._known.issuperset(self._items):
            self._search((*first, *others))

    def _search(self, starts: tuple[Started, ...]) -> None:
        self._starts = starts
        entries = self._program.plan.entries.values()
        self._is_scheduled = any(isinstance(each, Schedule) for each in entries)
        self.graph = SearchGraph(self._player, () if self._is_scheduled else starts)
        self.walker = Walker(self._program, self.graph, self._player)
        self._known: set[Item] = {item for arc in self._list_arcs() for item in arc.items}

    def _list_arcs(self) -> Iterator[Arc]:
        yield from self.graph.first
        yield from (arc for arcs in self.graph.arcs for arc in arcs)

    def cover(self) -> FoundRuns:
        """Return few runs that cover everything that can be covered."""
        scheduled = self._play_schedules()
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

    def _play_schedules(self) -> list[Played]:
        """Return runs of the schedules, while there is room: those of a long chain grow with the square of it."""
        made: list[Played] = []
        room = _ROOM
        for run in play_schedules(self._program, self._player, self._starts):
            self._is_cut = room <= 0
            if self._is_cut:
                break
            made.append(run)
            room -= run.state.executions
        return made

    def _choose_ways(self, wanted: frozenset[Item]) -> Iterator[list[Item]]:
        """Yield the items of each run: of more ways than fit, first the one with most items, then the shortest."""
        planned = [*self._plan_ways(wanted, WayCover)]
        if sum(each.executions for each in planned) > _ROOM:
            longest = max(planned, key=lambda each: each.count)
            others = (each for each in planned if each is not longest)
            planned = [longest, *sorted(others, key=lambda each: each.executions)]
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
        """Yield the items of each run: few ways through the positions."""
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
        if self._is_cut and (self._is_scheduled or item in self._known):
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
        if self.graph.given_up:
            return f"no answer that leads there was found, and {self.graph.given_up}"
        if part.kind == "rule":
            return "no answer was found to which it applies"
        edge = node.edges[part.number]
        if part.node in self._begun and edge.on != "fail":
            return "its branch of the fork ends where this edge would count"
        if isinstance(node.gate, JudgeGate):
            return f"the judge of the work never gives {edge.on!r} there"
        if (part.node, edge.on) in self._outcomes:
            return "no answer was found that takes it; other edges take those that have its outcome"
        return f"no answer was found that satisfies the schema and has the outcome {edge.on!r}"

    @cached_property
    def _begun(self) -> frozenset[str]:
        """The nodes with which branches of forks begin."""
        return frozenset(
            name
            for node in self._program.plan.nodes.values()
            for edge in node.edges
            if isinstance(edge.target, Fork | ForEach)
            for name in edge.target.nodes
        )

    @cached_property
    def _outcomes(self) -> frozenset[tuple[str, str]]:
        """The outcomes of nodes that some run takes along an edge."""
        taken = [each for each in self._known if isinstance(each, CoveredPart) and each.kind in _EDGES]
        return frozenset((each.node, self._program.plan.nodes[each.node].edges[each.number].on) for each in taken)

    def _explain_node(self, node: str) -> str:
        if self.graph.given_up:
            return f"no run to it was found, and {self.graph.given_up}"
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


_SHOWN = 60
"""Characters of the names of nodes that the name of a test has at most, or that of the first and the last."""


@value
class ScriptedPath:
    """A way through a flow as a test, and what came of its scenario."""

    test: WrittenTest
    found: Observation


@value
class PathSet:
    """Tests with different ways through a flow, their coverage, and its gaps."""

    paths: tuple[ScriptedPath, ...]
    coverage: Coverage
    missing: tuple[Missing, ...] = ()


def find_paths(program: Program, *, entry: str | None = None, to: str | None = None, pairs: bool = False) -> PathSet:
    """Return few tests that cover every node and edge of a flow, with `pairs` also edges that follow each other.

    With `to`, it is one test: the shortest run that comes to this node.
    """
    finder = PathFinder(program, entry=entry, pairs=pairs)
    return script_paths(program, finder.cover() if to is None else finder.reach(to), finder.steps)


def script_paths(program: Program, found: FoundRuns, steps: WatchedSteps | None = None) -> PathSet:
    """Return the scenarios of runs; what happens otherwise when a scenario is played is missing.

    `steps` are those that the search has made.
    """
    paths: list[ScriptedPath] = []
    missing = [*found.missing]
    known = frozenset(list_parts(program.plan))
    for run in found.runs:
        scenario = write_scenario(program.plan, run.started, run.answered)
        observed = run_test(program, FlowTest("", Place(""), parse_scenario(dict(scenario), "the scenario")), steps)
        parts = {each for each in run.items if isinstance(each, CoveredPart)}
        covered = known.intersection(list_parts_run(program.plan, observed))
        if observed.outcome != str(run.state.ended) or covered != parts:
            why = f"no scenario says what the world answers there{f': {observed.trouble}' if observed.trouble else ''}"
            missing += [Missing(each, str(each), why) for each in sorted(run.items, key=str)]
            continue
        expected = {"outcome": observed.outcome, "path": list(observed.path)}
        paths.append(ScriptedPath(WrittenTest(name_path(observed), scenario, expected), observed))
    paths.sort(key=lambda each: (each.found.outcome != "done", len(each.found.path)))
    return PathSet(tuple(paths), measure_coverage(program.plan, (each.found for each in paths)), tuple(missing))


def name_path(observed: Observation) -> str:
    """Return the name of a test: the nodes of its run, as many as fit, and how it ends."""
    groups = ((name, len([*some])) for name, some in groupby(observed.path))
    names = [name if times == 1 else f"{name} {times} times" for name, times in groups]
    shown = " → ".join(names)
    if len(shown) > _SHOWN:
        shown = f"{names[0]} → … → {names[-1]} in {len(observed.path)} executions"
    return f"{shown}: {observed.outcome}" if names else f"nothing: {observed.outcome}"
