"""One flow, read once into integers: what can be reached, and all other answers, each found when first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush

from stagec.core.place import Place
from stagec.core.precedence import Neighbours, components, repeats
from stagec.core.value import value
from stagec.ir.flow import Flow, WrittenEdge
from stagec.ir.plan.node import Chain, ForEach, Fork, Go, Named, Outcome, Stop, Target, list_targets


@value
class ScopeEdge:
    """One edge that opens a scope: its nodes run together, then its join; or, in a chain, one after the other."""

    source: int
    branches: tuple[int, ...]
    join: int | None
    chain: bool
    may_be_empty: bool = False
    """Whether the join may follow although no branch has begun, or none has succeeded."""

    @property
    def leads(self) -> tuple[int, ...]:
        """The nodes that run because the edge is taken."""
        return self.branches if self.join is None else (*self.branches, self.join)

    @property
    def needs(self) -> tuple[int, ...]:
        """The nodes that must complete for it to complete."""
        if self.may_be_empty:
            return () if self.join is None else (self.join,)
        return self.leads


@value
class Adjacency:
    """A flow in integers: `steps` are plain edges, `ends` the nodes that can end as done.

    `exits` are the nodes that can end as runs of the flow may. The last points of `steps` are hubs and no nodes: all
    edges with the same `Named` lead to one hub, and steps lead from it to the nodes that answers can name. `schedules`
    have for each of their nodes those that it needs; one that names a node which does not exist is left out.
    """

    ids: tuple[str, ...]
    index: Mapping[str, int]
    steps: Neighbours
    scopes: tuple[ScopeEdge, ...]
    ends: tuple[int, ...]
    dangling: tuple[WrittenEdge, ...]
    schedules: Mapping[str, Mapping[int, tuple[int, ...]]]
    exits: tuple[int, ...] = ()

    @property
    def hubs(self) -> range:
        """The points that are no nodes."""
        return range(len(self.ids), len(self.steps))

    def leads(self) -> Neighbours:
        """Return the nodes that run, at once or later, because an edge of a node is taken."""
        if not self.scopes:
            return self.steps
        made = [list(each) for each in self.steps]
        for scope in self.scopes:
            made[scope.source].extend(scope.leads)
        return made


def read_flow(flow: Flow) -> Adjacency:
    """Read a flow once, keeping edges apart that name a node which does not exist."""
    read = _Reader(flow)
    for source, node in enumerate(flow.nodes.values()):
        read.add_node(source, node.edges)
    found: dict[str, Mapping[int, tuple[int, ...]]] = {}
    index = read.index
    for name, schedule in flow.schedules.items():
        names = schedule.needs
        needed = {each for needs in names.values() for each in needs}
        if needed <= names.keys() <= index.keys():
            found[name] = {index[node]: tuple([index[each] for each in needs]) for node, needs in names.items()}
    return Adjacency(
        ids=tuple(read.index),
        index=read.index,
        steps=read.steps,
        scopes=tuple(read.scopes),
        ends=tuple(dict.fromkeys(read.ends)),
        dangling=tuple(read.dangling),
        schedules=found,
        exits=tuple(dict.fromkeys(read.exits)),
    )


class _Reader:
    """The graph as read so far."""

    def __init__(self, flow: Flow) -> None:
        self.index = {name: at for at, name in enumerate(flow.nodes)}
        self.steps: Neighbours = [[] for _ in flow.nodes]
        self._hubs: dict[int, int | None] = {}
        self.scopes: list[ScopeEdge] = []
        self.ends: list[int] = []
        self.exits: list[int] = []
        self._exits = flow.exits
        self.dangling: list[WrittenEdge] = []

    def add_node(self, source: int, edges: tuple[WrittenEdge, ...]) -> None:
        own, index = self.steps[source], self.index
        for edge in edges:
            target = edge.edge.target
            if edge.untaken:
                continue
            if isinstance(target, Go) and target.node in index:
                own.append(index[target.node])
            else:
                self._add_rare(source, edge, target)

    def _add_rare(self, source: int, edge: WrittenEdge, target: Target) -> None:
        if isinstance(target, Fork | Chain | ForEach):
            self._add_scope(source, edge, target)
        elif isinstance(target, Named):
            self._add_choice(source, edge, target)
        elif isinstance(target, Stop):
            if target.outcome is Outcome.DONE:
                self.ends.append(source)
            if target.outcome in self._exits:
                self.exits.append(source)
        else:
            self.dangling.append(edge)

    def _add_choice(self, source: int, edge: WrittenEdge, target: Named) -> None:
        if id(target) not in self._hubs:
            nodes = list_targets(target)
            is_known = all(each in self.index for each in nodes)
            self._hubs[id(target)] = len(self.steps) if is_known else None
            if is_known:
                self.steps.append([self.index[each] for each in nodes])
        hub = self._hubs[id(target)]
        if hub is None:
            self.dangling.append(edge)
        else:
            self.steps[source].append(hub)

    def _add_scope(self, source: int, edge: WrittenEdge, target: Fork | Chain | ForEach) -> None:
        if all(each in self.index for each in list_targets(target)):
            join = self.index[target.join] if not isinstance(target, Chain) and target.join is not None else None
            branches = tuple(self.index[each] for each in target.nodes)
            self.scopes.append(
                ScopeEdge(source, branches, join, isinstance(target, Chain), isinstance(target, ForEach))
            )
        else:
            self.dangling.append(edge)


_NONE = -1


class Dominators:
    """The nodes of a graph by what has to come before them.

    A node that no root leads to is not in the tree, and nothing is asked of it.
    """

    def __init__(self, leads: Neighbours, roots: Iterable[int]) -> None:
        closest = _Search([*leads, list(roots)]).closest()
        below: Neighbours = [[] for _ in closest]
        for node, above in enumerate(closest):
            if above != _NONE:
                below[above].append(node)
        self._first, self._last = _number(below, len(leads))

    def is_reached(self, node: int) -> bool:
        """Tell whether some root leads to a node."""
        return self._first[node] != _NONE

    def is_before(self, node: int, other: int) -> bool:
        """Tell whether every way from a root to another node comes by this one first; no node comes before itself."""
        return node != other and self._first[node] <= self._first[other] < self._last[node]


def _number(below: Neighbours, root: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return a number for each node of a tree, and the one behind the numbers of all nodes below it."""
    first, last = [_NONE] * len(below), [0] * len(below)
    count, todo = 0, [root]
    while todo:
        node = todo[-1]
        if first[node] == _NONE:
            first[node] = count
            count += 1
            todo.extend(below[node])
        else:
            last[todo.pop()] = count
    return first, last


class _Search:
    """Nodes by the number at which they are found; the last node of the graph is its only root.

    `early` is the number of the earliest node from which a way leads to a node by later ones only.
    """

    def __init__(self, leads: Neighbours) -> None:
        self._leads = leads
        self._found: list[int] = []
        self._number = [_NONE] * len(leads)
        self._parent = [_NONE] * len(leads)
        self._before: Neighbours = [[] for _ in leads]
        self._walk(len(leads) - 1)
        self._early: list[int] = [*self._number]
        self._above: list[int] = [_NONE] * len(leads)
        self._best: list[int] = [*range(len(leads))]

    def closest(self) -> Sequence[int]:
        """Return for each node the last one on every way to it; `-1` for the root and what it never leads to."""
        closest = [_NONE] * len(self._leads)
        waiting: Neighbours = [[] for _ in self._leads]
        for node in reversed(self._found[1:]):
            parent = self._parent[node]
            self._early[node] = min(self._early[self._evaluate(each)] for each in self._before[node])
            waiting[self._found[self._early[node]]].append(node)
            self._above[node] = parent
            for each in waiting[parent]:
                best = self._evaluate(each)
                closest[each] = best if self._early[best] < self._early[each] else parent
            waiting[parent].clear()
        for node in self._found[1:]:
            if closest[node] != self._found[self._early[node]]:
                closest[node] = closest[closest[node]]
        return closest

    def _walk(self, root: int) -> None:
        """Find what the root leads to, each node before what it leads to itself."""
        self._enter(root)
        trail = [(root, iter(self._leads[root]))]
        while trail:
            node, rest = trail[-1]
            target = next(rest, None)
            if target is None:
                trail.pop()
                continue
            self._before[target].append(node)
            if self._number[target] == _NONE:
                self._parent[target] = node
                self._enter(target)
                trail.append((target, iter(self._leads[target])))

    def _enter(self, node: int) -> None:
        self._number[node] = len(self._found)
        self._found.append(node)

    def _evaluate(self, node: int) -> int:
        """Return the node of the least `early` on the way up from a node, and shorten that way."""
        above, best = self._above, self._best
        way = [node]
        while above[way[-1]] != _NONE:
            way.append(above[way[-1]])
        way.pop()
        for lower, upper in zip(reversed(way[:-1]), reversed(way), strict=False):
            if self._early[best[upper]] < self._early[best[lower]]:
                best[lower] = best[upper]
            above[lower] = above[upper]
        return best[node]


@value
class Clauses:
    """Horn clauses: for each point those it helps to hold, and how many it needs; the first are nodes and hubs."""

    users: Neighbours
    need: list[int]
    given: tuple[int, ...] = ()

    def solve(self, seeds: Iterable[int] = ()) -> list[bool]:
        """Return for each point whether it follows from the seeds and what is given, in linear time."""
        left, users = list(self.need), self.users
        todo = list(dict.fromkeys((*self.given, *seeds)))
        for point in todo:
            left[point] = 0
        for point in todo:  # grows while it is read
            for user in users[point]:
                left[user] -= 1
                if left[user] == 0:
                    todo.append(user)
        return [each <= 0 for each in left]

    def add_point(self, need: int, *users: int) -> int:
        """Add a point that is no node and return it."""
        self.users.append(list(users))
        self.need.append(need)
        return len(self.need) - 1

    def count_levels(self) -> list[int | None]:
        """Return the cost of the cheapest path to each node, None without a path."""
        costs: list[int | None] = [None] * len(self.need)
        level, cost = list(self.given), 1
        while level:
            for node in level:
                costs[node] = cost
            above = dict.fromkeys(user for node in level for user in self.users[node])
            level, cost = [node for node in above if costs[node] is None], cost + 1
        return costs

    def need_directly(self, node: int, needs: Sequence[int], completes: Sequence[bool]) -> None:
        """Let a node start as `add_needs` does, where nothing else leads to it: no point is needed then."""
        if needs:
            self.need[node] = len(needs) + (not all(map(completes.__getitem__, needs)))
            for each in needs:
                self.users[each].append(node)

    def add_needs(self, node: int, needs: Sequence[int], completes: Sequence[bool]) -> None:
        """Let a node of a schedule start when all that it needs have started, if all of these can complete."""
        if needs and all(completes[each] for each in needs):
            point = self.add_point(len(needs), node)
            for each in needs:
                self.users[each].append(point)

    def add_fork(self, scope: ScopeEdge, completes: Sequence[bool]) -> None:
        """Let the branches of a fork start with its source, and its join when all of them can complete."""
        own = self.users[scope.source]
        own.extend(scope.branches)
        if scope.join is not None:
            if scope.may_be_empty:
                own.append(scope.join)
                return
            endless = not all(completes[each] for each in scope.branches)
            point = self.add_point(1 + len(scope.branches) + endless, scope.join)
            own.append(point)
            for each in scope.branches:
                self.users[each].append(point)

    def add_chain(self, scope: ScopeEdge, completes: Sequence[bool]) -> None:
        """Let each branch of a chain start when the one before it has completed."""
        before = scope.source
        for each in scope.branches:
            self.users[before].append(each)
            point = self.add_point(2 + (not completes[each]))
            self.users[before].append(point)
            self.users[each].append(point)
            before = point


def completion_clauses(net: Adjacency, ends: Iterable[int]) -> Clauses:
    """Return the implications between ends: which nodes come to an end if these nodes end runs."""
    users: Neighbours = [[] for _ in net.steps]
    for source, targets in enumerate(net.steps):
        for target in targets:
            users[target].append(source)
    made = Clauses(users, [1] * len(users))
    empty: list[int] = []
    for scope in net.scopes:
        point = made.add_point(len(scope.needs), scope.source)
        for each in scope.needs:
            users[each].append(point)
        empty.extend(() if scope.needs else (point,))
    return Clauses(users, made.need, (*ends, *empty))


def starting_clauses(net: Adjacency, completes: Sequence[bool]) -> Clauses:
    """Return the clauses of nodes that start because something else does."""
    users = [list(each) for each in net.steps] if net.scopes or net.schedules else net.steps
    made = Clauses(users, [1] * len(users))
    for scope in net.scopes:
        if scope.chain:
            made.add_chain(scope, completes)
        else:
            made.add_fork(scope, completes)
    is_alone = len(net.schedules) == 1 and not net.scopes and not any(net.steps)
    for schedule in net.schedules.values():
        for node, needs in schedule.items():
            if is_alone:
                made.need_directly(node, needs, completes)
            else:
                made.add_needs(node, needs, completes)
    return made


MOST = 10**18
"""Larger numbers count as this one: forks inside forks double them."""


def find_shortest(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Return for each node the least executions from it to a completing end.

    Knuth's generalisation of Dijkstra's algorithm where scopes are opened, a breadth-first search elsewhere.
    """
    costs = _cost_of_scopes(net, completion) if net.scopes or net.hubs else completion.count_levels()
    return costs[: len(net.ids)]


def _cost_of_scopes(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Settle what is cheapest first: a node costs one more than its best way, a scope all that runs in it.

    A hub costs no more than its best way.
    """
    nodes, points, left = len(net.ids), len(net.steps), list(completion.need)
    costs: list[int | None] = [None] * len(left)
    todo = sorted((int(point < nodes), point) for point in completion.given)
    while todo:
        cost, point = heappop(todo)
        if costs[point] is not None:
            continue
        costs[point] = cost
        for user in completion.users[point]:
            left[user] -= 1
            if user < points:
                heappush(todo, (min(cost + (user < nodes), MOST), user))
            elif not left[user]:
                scope = net.scopes[user - points]
                heappush(todo, (min(sum(costs[each] or 0 for each in scope.needs), MOST), user))
    return costs


def build(flow: Flow) -> Graph:
    """Return the graph of a flow, in linear time."""
    return Graph(flow)


def noun(graph: Graph, thing: str) -> str:
    """Return the system's word for a `node` or an `outcome`."""
    return graph.flow.names.get(thing, thing)


class Graph:
    """A flow and what follows from it, in flow order wherever an order is left open.

    All answers are linear in nodes and edges; forks cost `shortest_run` a logarithm.
    """

    def __init__(self, flow: Flow) -> None:
        self._net: Adjacency = read_flow(flow)
        self._flow = flow

    @property
    def flow(self) -> Flow:
        """The flow this is the graph of."""
        return self._flow

    @property
    def dangling(self) -> tuple[WrittenEdge, ...]:
        """The edges that name a node which does not exist; no answer regards them."""
        return self._net.dangling

    @property
    def exact(self) -> bool:
        """Whether all edges and entries are known, so that something may be said about what is absent."""
        entries, schedules = self._flow.entries, self._flow.schedules
        known = all(each.node in self._net.index for each in entries.values())
        is_begun = bool(entries or schedules) and len(self._net.schedules) == len(schedules)
        return self._flow.exact and known and is_begun and not self._net.dangling

    def startable(self) -> frozenset[str]:
        """Return the nodes that can start, all entries taken together.

        A join starts when every node of its scope can start and end; in a chain each starts when
        those before it can end, in a schedule when all that it needs can start and end.
        """
        return self._startable

    def unstartable(self) -> tuple[str, ...]:
        """Return the nodes that can never start."""
        return self._unstartable

    def completing(self) -> frozenset[str]:
        """Return the nodes from which a run, or the scope they are in, can end as done.

        A fork or chain ends when each of its nodes ends and its join, if it has one, does. Whether nodes can start at
        all is not asked here.
        """
        return self._completing

    def find_stuck(self) -> tuple[str, ...]:
        """Return the nodes that can start and that lead to no exit of the flow."""
        return self._stuck

    def traps(self) -> tuple[Trap, ...]:
        """Return the places where stuck runs end up, each once."""
        if not self.find_stuck():
            return ()
        starts, every = self._all_started, [True] * len(self._leaves)
        led = starting_clauses(self._net, every).solve(self._begun)
        flags = zip(self._net.steps, self._leaves, starts, led, strict=False)
        waits = [not ends and (begins or not reached) for _, ends, begins, reached in flags]
        for hub in self._net.hubs:  # without a node behind it that waits, it is not what runs end up in
            waits[hub] = waits[hub] and any(waits[each] for each in self._net.steps[hub])
        found = sorted(find_traps(self._leads, starts, waits))
        return tuple([Trap(self._name(each), cycle) for each, cycle in found])

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the strongly connected components, each behind all it leads to.

        A node leads to all nodes of its targets, joins included.
        """
        return tuple([names for each in self._components if (names := self._name(each))])

    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return the components that lead back into themselves."""
        found = sorted(each for each in self._components if repeats(self._leads, each))
        return tuple([self._name(each) for each in found])

    def is_before(self, node: str, other: str) -> bool:
        """Tell whether every way to another node comes by this one first, or no way leads there.

        A join counts as what follows the node that opens its scope. An answer that may name any node is a way to all.
        """
        index, found = self._net.index, self._dominators
        return not found.is_reached(index[other]) or found.is_before(index[node], index[other])

    def shortest_run(self, entry: str) -> int | None:
        """Return the least number of node executions with which a run comes to an exit, None when none does."""
        if entry in self._flow.schedules:
            costs = [self._shortest[node] for node in self._net.schedules.get(entry, ())]
            known = [each for each in costs if each is not None]
            return min(sum(known), MOST) if costs and len(known) == len(costs) else None
        return next((self._shortest[root] for root in self._roots(entry)), None)

    def grounds(self, nodes: Iterable[str]) -> tuple[Place, ...]:
        """Return the places elsewhere that conclusions about nodes rest on: their schemas."""
        parts = (part for each in nodes if each in self._flow.nodes for part in self._flow.nodes[each].parts)
        return tuple([at for called, at in parts if called == "schema"])

    def _roots(self, entry: str | None) -> tuple[int, ...]:
        chosen = self._flow.entries.values() if entry is None else (self._flow.entries[entry],)
        found = (self._net.index.get(each.node) for each in chosen)
        return tuple(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def _begun(self) -> tuple[int, ...]:
        """The nodes with which runs begin."""
        every = (node for schedule in self._net.schedules.values() for node, needs in schedule.items() if not needs)
        return tuple(dict.fromkeys((*self._roots(None), *every)))

    def _name(self, nodes: Iterable[int]) -> tuple[str, ...]:
        ids = self._net.ids
        return tuple([ids[each] for each in nodes if each < len(ids)])

    def _name_where(self, flags: Sequence[bool]) -> list[str]:
        return [name for name, flag in zip(self._net.ids, flags, strict=False) if flag]

    @cached_property
    def _exiting(self) -> Clauses:
        """The clauses of the ways to an exit."""
        return completion_clauses(self._net, self._net.exits)

    @cached_property
    def _leaves(self) -> Sequence[bool]:
        return self._exiting.solve()

    @cached_property
    def _completes(self) -> Sequence[bool]:
        if set(self._net.exits) == set(self._net.ends):
            return self._leaves
        return completion_clauses(self._net, self._net.ends).solve()

    @cached_property
    def _completing(self) -> frozenset[str]:
        return frozenset(self._name_where(self._completes))

    @cached_property
    def _starting(self) -> Clauses:
        return starting_clauses(self._net, self._completes)

    @cached_property
    def _all_started(self) -> Sequence[bool]:
        return self._starting.solve(self._begun)

    @cached_property
    def _startable(self) -> frozenset[str]:
        return frozenset(self._name_where(self._all_started))

    @cached_property
    def _unstartable(self) -> tuple[str, ...]:
        return tuple([each for each in self._net.ids if each not in self._startable])

    @cached_property
    def _stuck(self) -> tuple[str, ...]:
        stuck = self._startable.difference(self._name_where(self._leaves))
        return tuple([each for each in self._net.ids if each in stuck]) if stuck else ()

    @cached_property
    def _leads(self) -> Neighbours:
        return self._net.leads()

    @cached_property
    def _components(self) -> tuple[list[int], ...]:
        return tuple(components(self._leads))

    @cached_property
    def _dominators(self) -> Dominators:
        scheduled = (node for schedule in self._net.schedules.values() for node in schedule)
        leads, index = self._leads, self._net.index
        if self._flow.open:
            leads = [*map(list, leads), list(dict.fromkeys(index[each] for each in self._flow.called.values()))]
            for name in self._flow.open:
                leads[index[name]].append(len(leads) - 1)
        return Dominators(leads, tuple(dict.fromkeys((*self._roots(None), *scheduled))))

    @cached_property
    def _shortest(self) -> list[int | None]:
        return find_shortest(self._net, self._exiting)


@value
class Trap:
    """Nodes that a run can enter and never leave for a completing end: a cycle without an exit, or a dead end.

    Every node that is stuck belongs to a trap, leads into one, or needs a node that could not start in any case.
    """

    nodes: tuple[str, ...]
    cycle: bool


def find_traps(leads: Neighbours, starts: Sequence[bool], waits: Sequence[bool]) -> Iterator[tuple[list[int], bool]]:
    """Yield the nodes of each trap and whether it is a cycle; `waits` tells of each node whether it counts.

    A node that does not complete needs another such node on each of its edges, unless they all fail; a trap is a
    component of them that needs no other. One in which nothing can start is no trap: nothing gets there. What cannot
    start only because one of the others does not complete does not count: then that is the reason.
    """
    kept = [[each for each in targets if waits[each]] if waits[node] else [] for node, targets in enumerate(leads)]
    found = [-1] * len(leads)
    for at, component in enumerate(components(kept)):
        for node in component:
            found[node] = at
        if not waits[component[0]] or not any(starts[node] for node in component):
            continue
        if all(found[each] == at for node in component for each in kept[node]):
            yield component, repeats(kept, component)
