"""Flow of information: paths on which a run reads private data and untrusted text before it sends."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

from stagec.core.value import value
from stagec.ir.flow import Flow, WrittenEdge
from stagec.ir.plan.node import Chain, ForEach, Fork, Outcome, Schedule, Stop, list_opened, list_targets
from stagec.ir.rights import Label


def find_later(flow: Flow, begun: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield every node that can begin after one of some nodes, with that one: the nearest of them."""
    led: dict[str, list[str]] = {name: list(flow.nodes) if name in flow.open else [] for name in flow.nodes}
    for earlier, later in list_orders(flow):
        led.setdefault(earlier, []).append(later)
    origin = {name: name for name in begun}
    waiting, told = deque(origin), set[str]()
    while waiting:
        name = waiting.popleft()
        for each in led.get(name, ()):
            if each not in told and each in flow.nodes:
                told.add(each)
                yield each, origin[name]
            if each not in origin:
                origin[each] = origin[name]
                waiting.append(each)


def list_orders(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield pairs of nodes of which one can begin when the other has ended."""
    for edge in (each for node in flow.nodes.values() for each in node.edges):
        yield from ((edge.source, each) for each in list_targets(edge.target))
        if isinstance(edge.target, ForEach):
            yield from pairwise(list_targets(edge.target))
        elif isinstance(edge.target, Chain):
            yield from pairwise(edge.target.nodes)
        elif isinstance(edge.target, Fork) and edge.target.join is not None:
            yield from ((each, edge.target.join) for each in edge.target.nodes)
    for schedule in flow.schedules.values():
        yield from ((each, name) for name, needs in schedule.needs.items() for each in needs)


PRIVATE, UNTRUSTED, DECIDED, SWAYED = 1, 2, 4, 8
"""Facts about a path, each set of them one number.

Private data was read, untrusted text was read, a model has decided something, or it has done so after reading foreign
text.
"""
_BITS: Mapping[int, Label] = {PRIVATE: Label.PRIVATE, UNTRUSTED: Label.UNTRUSTED}


Labels = Mapping[str, frozenset[Label]]
_State = tuple[str, int]
"""A node, and what has happened on a way before it begins."""
_Before = tuple[_State, WrittenEdge, tuple[str, ...]]
"""The state before one, the edge between them, and the nodes among which the rest happened."""


@value
class LeakStep:
    """A node on a way, and the edge that leads there, None where the way begins or a schedule orders it."""

    node: str
    edge: WrittenEdge | None = None


@value
class Leak:
    """A node that can send after private and untrusted data were read, and a way that leads there.

    `private` and `untrusted` are the nodes of the way that read these last; the way ends with the sender.
    """

    private: str
    untrusted: str
    way: tuple[LeakStep, ...]

    @property
    def sender(self) -> str:
        """The node that sends."""
        return self.way[-1].node


class InformationFlow:
    """The ways of a flow whose nodes have labels.

    Everything that was read on a way counts from then on, also across loops, joins and carried values. A join begins
    when all nodes before it have ended, and knows what they have read; nodes that run in parallel know nothing of each
    other. A program, one of the nodes `fixed`, does the same whatever it reads: untrusted text counts only if a
    model has decided something since. Linear in nodes and edges.
    """

    def __init__(self, flow: Flow, labels: Labels, fixed: Collection[str] = ()) -> None:
        self._flow = flow
        self._fixed = fixed
        self._labels = {name: labels.get(name, frozenset()) for name in flow.nodes}
        self._every = tuple(flow.nodes)

    @cached_property
    def _states(self) -> Mapping[str, _State]:
        """The first state in which each node can send data that was read, in the order of execution."""
        found: dict[str, _State] = {}
        for state in self._before if any(map(self._sends, self._every)) else ():
            if state[0] not in found and self._leaks(state[0], follow(state[1], self._does(state[0]))):
                found[state[0]] = state
        return found

    def find_senders(self) -> tuple[str, ...]:
        """Return each node that can send what was read."""
        return tuple(dict.fromkeys((*self._states, *self._scheduled)))

    def describe(self, sender: str) -> Leak:
        """Return a shortest way on which a node comes to send what was read."""
        if sender not in self._states:
            return self._scheduled[sender]
        return self._describe(self._states[sender])

    def _reads(self, node: str) -> int:
        return sum(bit for bit, label in _BITS.items() if label in self._labels[node])

    def _does(self, node: str) -> int:
        """Return the facts that a run of a node adds."""
        reads = self._reads(node)
        if node in self._fixed:
            return reads
        return reads | DECIDED | (SWAYED if reads & UNTRUSTED else 0)

    def _leaks(self, node: str, after: int) -> bool:
        """Tell whether a node sends private data as strangers may want it, after all that has happened, it included."""
        return self._sends(node) and after & PRIVATE != 0 and after & SWAYED != 0

    def _sends(self, node: str) -> bool:
        return Label.SEND in self._labels[node]

    @cached_property
    def _before(self) -> Mapping[_State, _Before | None]:
        """Every state, breadth first from the entries, and how runs come there on a shortest way."""
        before: dict[_State, _Before | None] = {}
        before |= {(entry.node, 0): None for entry in self._flow.entries.values() if entry.node in self._labels}
        waiting = deque(before)
        while waiting:
            state = waiting.popleft()
            node, known = state
            read = follow(known, self._does(node))
            led = ((edge, each) for edge in self._flow.nodes[node].edges for each in self._lead(edge, read))
            for edge, (target, more, among) in led:
                if (target, more) not in before:
                    before[target, more] = (state, edge, among)
                    waiting.append((target, more))
        return before

    def _lead(self, edge: WrittenEdge, read: int) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Yield the target of an edge, the data read so far, and the nodes on the way that read it."""
        target = edge.target
        if edge.source in self._flow.open:
            yield from ((each, read, ()) for each in self._every)
        nodes = tuple(each for each in list_opened(target) if each in self._labels)
        if isinstance(target, Chain | ForEach):
            gathered = frozenset({read})
            for at, each in enumerate(nodes):
                yield from ((each, more, nodes[:at]) for more in gathered)
                gathered = _follow_all(gathered, self._ends[each])
            if isinstance(target, ForEach) and target.join in self._labels:
                met = _meet([gathered, gathered]) | {read}
                yield from ((target.join or "", more, nodes) for more in met)
            return
        yield from ((each, read, ()) for each in nodes)
        if isinstance(target, Fork) and target.join in self._labels:
            met = _meet([self._ends[each] for each in nodes])
            yield from ((target.join or "", more, nodes) for more in _follow_all({read}, met))

    @cached_property
    def _ends(self) -> Mapping[str, frozenset[int]]:
        """The possible facts from each node to the end of its scope; empty if none can end well."""
        users: dict[str, set[str]] = {name: set() for name in self._every}
        for name, node in self._flow.nodes.items():
            for each in (each for edge in node.edges for each in list_targets(edge.target)):
                users.setdefault(each, set()).add(name)
        found: dict[str, frozenset[int]] = dict.fromkeys(self._every, frozenset())
        waiting, queued = deque(reversed(self._every)), set(self._every)  # a fork waits once for all its branches
        while waiting:
            name = waiting.popleft()
            queued.discard(name)
            ends = frozenset[int]().union(*(self._end(edge, found) for edge in self._flow.nodes[name].edges))
            ends = _follow_all({self._does(name)}, ends)
            if ends != found[name]:
                found[name] = ends
                waiting.extend(users[name] - queued)
                queued |= users[name]
        return found

    def _end(self, edge: WrittenEdge, found: Mapping[str, frozenset[int]]) -> frozenset[int]:
        """Return the possible facts from an edge to the end of the scope."""
        target = edge.target
        if isinstance(target, Stop):
            return frozenset({0} if target.outcome is Outcome.DONE else ())
        each = [found.get(name, frozenset[int]()) for name in list_opened(target)]
        if isinstance(target, Fork):
            met = _meet(each)
            return met if target.join is None else _follow_all(met, found.get(target.join, frozenset()))
        if not isinstance(target, Chain | ForEach):
            return frozenset[int]().union(*each)
        ends = frozenset({0})
        for name in target.nodes:
            ends = _follow_all(ends, found.get(name, frozenset()))
        if isinstance(target, ForEach):
            ends |= {0}
            return ends if target.join is None else _follow_all(ends, found.get(target.join, frozenset()))
        return ends

    def _describe(self, state: _State) -> Leak:
        """Return the way to a state, with the ways inside parallel branches that read something new."""
        steps: list[LeakStep] = []
        at: _State | None = state
        while at is not None:
            come = self._before[at]
            steps.append(LeakStep(at[0], come[1] if come is not None else None))
            if come is not None and come[2]:
                gained = at[1] & ~follow(come[0][1], self._does(come[0][0]))
                for bit in _BITS:
                    inside = self._search(come[2], bit) if gained & bit else ()
                    steps.extend(LeakStep(each) for each in reversed(inside))
            at = come[0] if come is not None else None
        return self._make(tuple(reversed(steps)))

    def _search(self, begun: Iterable[str], bit: int) -> tuple[str, ...]:
        """Return a shortest way from some nodes to one that reads something."""
        before: dict[str, str | None] = dict.fromkeys(begun)
        waiting = deque(before)
        while waiting:
            name = waiting.popleft()
            if self._reads(name) & bit:
                way, at = [name], before[name]
                while at is not None:
                    way.append(at)
                    at = before[at]
                return tuple(reversed(way))
            for each in (each for edge in self._flow.nodes[name].edges for each in list_targets(edge.target)):
                if each in self._labels and each not in before:
                    before[each] = name
                    waiting.append(each)
        return ()

    def _make(self, way: tuple[LeakStep, ...]) -> Leak:
        """Return a leak without the part of its way before the first of its readers."""
        # the last place where untrusted text is read before a model decides
        deciding = [at for at, each in enumerate(way) if each.node not in self._fixed]
        private = max(at for at, each in enumerate(way) if self._reads(each.node) & PRIVATE)
        strange = [at for at, each in enumerate(way) if self._reads(each.node) & UNTRUSTED]
        untrusted = max([at for at in strange if deciding and at <= deciding[-1]] or strange)
        return Leak(way[private].node, way[untrusted].node, way[min(private, untrusted) :])

    @cached_property
    def _scheduled(self) -> Mapping[str, Leak]:
        """The senders of schedules: what they need, directly or not, has been read before they begin."""
        found: dict[str, Leak] = {}
        for schedule in self._flow.schedules.values():
            for name in filter(self._labels.__contains__, schedule.needs):
                leak = self._ask_needs(schedule, name) if self._sends(name) else None
                if leak is not None:
                    found[name] = leak
        return found

    def _ask_needs(self, schedule: Schedule, sender: str) -> Leak | None:
        needed = {sender: 0}
        waiting = deque(needed)
        while waiting:
            name = waiting.popleft()
            for each in schedule.needs.get(name, ()):
                if each in self._labels and each not in needed:
                    needed[each] = needed[name] + 1
                    waiting.append(each)
        # what has been read by the models among them, and before these
        strange = self._find_swaying(schedule, needed)
        private = [name for name in needed if self._reads(name) & PRIVATE]
        if not private or strange is None:
            return None
        names = dict.fromkeys((private[0], strange))
        first = sorted((each for each in names if each != sender), key=lambda each: -needed[each])
        return Leak(private[0], strange, tuple(map(LeakStep, (*first, sender))))

    def _find_swaying(self, schedule: Schedule, needed: Iterable[str]) -> str | None:
        """Return the nodes among some that read untrusted text and are needed by a model, or are one."""
        for name in needed:
            before, waiting = dict.fromkeys([name]), deque([name])
            while name not in self._fixed and waiting:
                at = waiting.popleft()
                if self._reads(at) & UNTRUSTED:
                    return at
                fresh = [each for each in schedule.needs.get(at, ()) if each in self._labels and each not in before]
                before.update(dict.fromkeys(fresh))
                waiting.extend(fresh)
        return None


def follow(before: int, after: int) -> int:
    """Return the facts after one step follows another."""
    return before | after | (SWAYED if before & UNTRUSTED and after & DECIDED else 0)


def _follow_all(before: Collection[int], after: Collection[int]) -> frozenset[int]:
    return frozenset(follow(each, more) for each in before for more in after)


def _meet(sides: Iterable[Collection[int]]) -> frozenset[int]:
    """Return the facts after several parallel branches have ended."""
    met = frozenset({0})
    for side in sides:
        met = frozenset(each | more for each in met for more in side)
    return met
