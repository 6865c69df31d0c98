"""Play the runs of a program until each node and each edge is seen, or say which of them no run comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from stagec.change.flow_tests.watched_steps import EdgeWatch
from stagec.change.flow_tests.witness.search import FAR, Distances, Reached, Search, Work, WorkUsedUpError
from stagec.core.value import replace, value
from stagec.ir.flow import UNANSWERED, Flow, UntakenWay
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import AgentGate, JudgeGate
from stagec.ir.plan.node import (
    Chain,
    Edge,
    ForEach,
    Fork,
    Go,
    Named,
    Node,
    Outcome,
    Pick,
    Schedule,
    Stop,
    Target,
    list_begun,
    list_targets,
)
from stagec.runtime.machine import Event, Program, State, StepResult
from stagec.runtime.machine.failures import RunFailure
from stagec.runtime.machine.program import program_of

Way = tuple[str, int]
"""An edge, by its node and its number there."""


class _Watch(Work):
    """Makes the steps of a search, and notes what they come to: nodes `entered` and `passed`, and edges `taken`."""

    def __init__(self, program: Program, steps: int) -> None:
        super().__init__(steps)
        self._program, self._edges = program, EdgeWatch(program)
        self.entered: set[str] = set()
        self.passed: set[str] = set()
        self.taken: set[Way] = set()

    def advance(self, program: Program, state: State, event: Event) -> StepResult:
        """Make one step, or raise `WorkUsedUpError`; the runs of agents are played by their own programs."""
        if program is not self._program:
            return super().advance(program, state, event)
        step = super().advance(self._edges.program, state, event)
        self.entered.update(each.node for each in step.state.active.values())
        for move, edge in self._edges.take(step.moves):
            self.entered.add(move.node)
            if edge is not None:
                self.taken.add(edge[:2])
                if _leads_on(self._program.plan.nodes[edge[0]].edges[edge[1]]):
                    self.passed.add(move.node)
        return step


def _leads_on(edge: Edge) -> bool:
    return not isinstance(edge.target, Stop) or edge.target.outcome is Outcome.DONE


@value
class _Wanted:
    """The goals of the search: nodes to enter, nodes to pass, and edges to take."""

    entered: frozenset[str]
    passed: frozenset[str]
    taken: frozenset[Way]


_STEPS = 1_000
"""Steps of the machine of a search that nobody notices."""


def survey(flow: Flow, plan: Plan) -> tuple[UntakenWay, ...]:
    """Return the ways that no run takes; empty if that is not certain after some steps of the machine."""
    if not flow.exact or 2 * len(plan.nodes) > _STEPS or not _is_doubtful(plan):
        return ()
    wanted = _list_wanted(flow, plan)
    program = program_of(plan)
    watch = _Watch(program, _STEPS)
    search = Search(program, watch)
    ends: dict[str, RunFailure] = {}
    played = (reached for entry in plan.entries for reached in search.runs.spread(entry))
    try:
        for reached in played:
            _note(reached, ends)
            if _has_come_to(watch, wanted):
                return ()
    except WorkUsedUpError:
        return ()
    found = tuple(_Accuser(flow, search, watch, wanted, ends).list_untaken())
    return _leave_out_open(plan, found, search) if found else ()


def _is_doubtful(plan: Plan) -> bool:
    """Tell whether anything but answers decides what runs come to: answers are judged by the rules about schemas."""
    if any(isinstance(each, Schedule) for each in plan.entries.values()):
        return False  # the stages of a plan are begun by no outcome
    if plan.phases is not None or (plan.judge is not None and "count:" in repr(plan.judge)):
        return True
    return any(map(_may_stop, plan.nodes.values())) or _may_exceed(plan)


def _may_stop(node: Node) -> bool:
    """Tell whether something besides its answers may end the runs in a node, or those that it opens."""
    has_chain = isinstance(node.act, Prompt) and node.act.repeats == ()
    is_gated = node.admission is not None and bool(node.admission.defer or node.admission.block)
    return has_chain or is_gated or any(isinstance(each.target, Fork | Chain | ForEach) for each in node.edges)


def _may_exceed(plan: Plan) -> bool:
    """Tell whether the shortest run that comes to a node and completes may have more executions than a run may have."""
    most, distances = plan.limits.executions, Distances(plan)
    level = {node for each in plan.entries.values() for node in list_begun(each)}
    known, depth = set(level), 0
    while most is not None and level:
        if any(FAR > distances.of_node(each) > most - depth for each in level):
            return True
        ahead = (each for name in level for edge in plan.nodes[name].edges for each in _list_led(plan, edge.target))
        level = set(ahead) - known
        known |= level
        depth += 1
    return False


def _note(reached: Reached, ends: dict[str, RunFailure]) -> None:
    """Keep how runs fail in each node, or after it, when all answers are such as everybody expects."""
    failure, before = reached.state.failure, reached.before
    if failure is None:
        return
    active = () if before is None else tuple(each.node for each in before.state.active.values())
    for node in () if reached.odd else {*active, *(() if failure.node is None else (failure.node,))}:
        ends.setdefault(node, failure)


def _has_come_to(watch: _Watch, wanted: _Wanted) -> bool:
    return watch.entered >= wanted.entered and watch.passed >= wanted.passed and watch.taken >= wanted.taken


def _list_wanted(flow: Flow, plan: Plan) -> _Wanted:
    nodes = _close(plan, (node for each in plan.entries.values() for node in list_begun(each)))
    passed = (name for name in nodes if any(map(_leads_on, plan.nodes[name].edges)))
    taken = ((name, at) for name in nodes for at in _list_meant(flow, plan, name))
    return _Wanted(frozenset(nodes), frozenset(passed), frozenset(taken))


def _list_meant(flow: Flow, plan: Plan, name: str) -> Iterator[int]:
    """Yield the numbers of the edges of a node that some run should take.

    One that ends a run need not be used. Neither need one after an edge of the same outcome without conditions.
    """
    gate, settled = plan.nodes[name].gate, set[str]()
    for at, edge in enumerate(plan.nodes[name].edges):
        is_idle = isinstance(edge.target, Stop) or edge.on in settled
        is_precaution = isinstance(gate, JudgeGate) or (isinstance(gate, AgentGate) and edge.on == "failed")
        if not is_idle and not is_precaution and _is_written(flow, name, edge):
            yield at
        if not edge.when and not isinstance(edge.target, Named | Pick):
            settled.add(edge.on)


def _is_written(flow: Flow, name: str, edge: Edge) -> bool:
    """Tell whether somebody has written an edge, and means it as it is written."""
    known = flow.nodes[name].edges if name in flow.nodes else ()
    return any(each.edge == edge and not (each.repair or each.fallback or each.untaken) for each in known)


def _close(plan: Plan, nodes: Iterable[str]) -> dict[str, None]:
    """Return some nodes, and all that ways lead to from them; nobody counts on what runs when another cannot start."""
    todo = list(dict.fromkeys(nodes))
    found = dict.fromkeys(todo)
    for name in todo:  # grows while it is read
        for edge in plan.nodes[name].edges:
            fresh = [each for each in dict.fromkeys(_list_led(plan, edge.target)) if each not in found]
            found.update(dict.fromkeys(fresh))
            todo += fresh
    return found


def _list_led(plan: Plan, target: Target) -> tuple[str, ...]:
    if isinstance(target, Go):
        return (target.node,)
    return tuple(plan.choices[target.choices].values()) if isinstance(target, Pick) else list_targets(target)


def _is_default(before: Iterable[Edge], edge: Edge) -> bool:
    """Tell whether an edge is one for all results that the edges before it leave: there need be none."""
    return not edge.when and any(each.on == edge.on for each in before)


class _Accuser:
    """Reports the parts that a search did not reach: only the places where runs stop, not the parts behind them."""

    def __init__(self, flow: Flow, search: Search, watch: _Watch, wanted: _Wanted, ends: dict[str, RunFailure]) -> None:
        self._flow, self._watch, self._wanted, self._ends = flow, watch, wanted, ends
        self._plan, self._ways = search.plan, search.runs.ways

    def list_untaken(self) -> Iterator[UntakenWay]:
        """Yield the ways on which runs stop."""
        entered = self._watch.entered & self._wanted.entered
        found = [way for name in self._flow.nodes if name in entered for way in self._list_of(name)]
        yield from found
        told = {each.node for each in found}
        for source, awaited in self._list_unbegun():
            if told.isdisjoint(_close(self._plan, (source,))):
                told.add(awaited)
                yield replace(self._explain(source, None, (awaited,)), node=awaited, entered=False)

    def _list_of(self, name: str) -> Iterator[UntakenWay]:
        edges = self._plan.nodes[name].edges
        taken = [at for at in range(len(edges)) if (name, at) in self._watch.taken]
        if name not in self._ends and not taken:
            return  # others have ended every run before it has answered
        if name in self._wanted.passed - self._watch.passed:
            yield self._explain(name, None, (each for at in range(len(edges)) for each in self._list_opened(name, at)))
            return
        for at, edge in enumerate(edges):
            if (name, at) in self._wanted.taken and at not in taken:
                way = self._explain(name, edge, self._list_opened(name, at))
                if way.behind or not _is_default(edges[:at], edge):
                    yield way if self._has_answer(name, at) else replace(way, kind=UNANSWERED)

    def _has_answer(self, name: str, at: int) -> bool:
        """Tell whether a made-up answer takes an edge, if the run goes on after it."""
        edges = self._plan.nodes[name].edges
        way = [edges[at].on, str(sum(each.on == edges[at].on for each in edges[:at]))]
        return any(each.name.split(" ")[:2] == way for each in self._ways.find(name))

    def _list_opened(self, name: str, at: int) -> tuple[str, ...]:
        return _list_led(self._plan, self._plan.nodes[name].edges[at].target)

    def _explain(self, name: str, edge: Edge | None, led: Iterable[str]) -> UntakenWay:
        behind = tuple(each for each in _close(self._plan, led) if each not in self._watch.entered and each != name)
        end = self._ends.get(name)
        kind, detail = ("", "") if end is None else (str(end.kind), end.detail)
        return UntakenWay(name, edge, True, kind, detail, behind)

    def _list_unbegun(self) -> Iterator[tuple[str, str]]:
        """Yield the nodes that never begin although an edge that leads to them is taken, each with the node before."""
        for name, at in sorted(self._watch.taken):
            match self._plan.nodes[name].edges[at].target:
                case Go(node=node):
                    awaited: tuple[str, ...] = (node,)
                case Chain(nodes=nodes):
                    awaited = nodes
                case Fork(nodes=nodes, join=str(join)) if self._watch.entered.issuperset(nodes):
                    awaited = (join,)
                case _:  # an answer may name another node, and a list may be empty
                    awaited = ()
            yield from ((name, each) for each in awaited if each not in self._watch.entered)


def _leave_out_open(plan: Plan, found: Collection[UntakenWay], search: Search) -> tuple[UntakenWay, ...]:
    """Leave out what other answers than those of the search may come to; they may act far away from their node."""
    targets = [edge.target for node in plan.nodes.values() for edge in node.edges]
    has_scopes = any(isinstance(each, Fork | ForEach | Chain) for each in targets)
    kept = tuple(dict.fromkeys(found))
    for node, _ in search.list_open():
        ahead = _close(plan, (node,)) if node in plan.nodes and not has_scopes else plan.nodes
        kept = tuple(each for each in kept if each.node not in ahead)
        if not kept:
            break
    return kept
