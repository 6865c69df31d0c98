"""The facts of a plan, computed a second time by networkx on the graph of the plan itself.

Nothing here shares code with the first time: not the graph, not the components, not the order, not the fixpoints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stagec.core.words import listing
from stagec.ir.graph.graph import Graph
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import Facts, Plan
from stagec.ir.plan.loader import load_agents
from stagec.ir.plan.node import Chain, Entry, ForEach, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop, Target

_BEGIN, _ENDLESS = ("begin",), ("endless",)
_ENDS = {each: (each.value,) for each in Outcome}
_DONE = _ENDS[Outcome.DONE]
"""Nodes that no plan has: their names are no texts. Nor are those of `_choices`, which all that share them lead to."""
_MOST = 10**15
_TURNS_OF_PROMPT = 2


class CrossCheck:
    """A plan, and what networkx finds of it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        # every node with those its targets name, the ends they name, and the entries
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from((_BEGIN, _ENDLESS, *_ENDS.values()))
        graph.add_nodes_from(plan.nodes)
        graph.add_edges_from((_BEGIN, node) for entry in plan.entries.values() for node in _list_entered(entry))
        graph.add_edges_from(_choices(plan))
        graph.add_edges_from(
            (name, each) for name, node in plan.nodes.items() for edge in node.edges for each in _ahead(edge.target)
        )
        self._graph = graph

    def contradictions(self) -> Iterator[str]:
        """Yield how the facts of the plan, and the bound it needs, differ from what is found."""
        import networkx as nx

        listed: list[tuple[str, ...]] = []
        for component in nx.strongly_connected_components(self._graph):
            first, *others = component
            if others or self._graph.has_edge(first, first):
                listed.append(tuple(sorted(each for each in component if isinstance(each, str))))
        plan, cycles = self._plan, tuple(sorted(listed))
        found = self._compute_facts(plan, cycles)
        for name in ("done", "failed", "interrupted", "blocked", "cycles", "executions", "turns"):
            known = None if plan.facts is None else getattr(plan.facts, name)
            if known != getattr(found, name):
                yield f"its fact '{name}' does not follow from its nodes and edges"
        begun = _descendants(self._graph, _BEGIN)
        if plan.limits.executions is None and any(not begun.isdisjoint(each) for each in cycles):
            yield "it has a cycle that runs reach, and no bound"

    def disagreements(self, judged: Graph) -> Iterator[str]:
        """Yield the nodes whose start or completion is judged differently here and by the rules.

        Nothing can be said where a flow is not known to be whole. Rules know edges that no result takes; the plan has
        these edges, so more may start and complete here.
        """
        flow, plan = judged.flow, self._plan
        if not flow.exact or flow.suspect:
            return
        naming = frozenset(name for name, node in flow.nodes.items() if node.names_any)
        has_untaken = any(edge.untaken for node in flow.nodes.values() for edge in node.edges)
        nodes = plan.nodes.keys()
        moves = (*plan.entries.values(), *(target for _, target in _targets(plan, naming)))
        is_plain = not naming and not any(isinstance(each, Fork | Chain | ForEach | Schedule) for each in moves)
        completing = _ancestors(self._graph, _DONE) & nodes if is_plain else _completing(plan, naming)
        starting = _descendants(self._graph, _BEGIN) & nodes if is_plain else _starting(plan, naming, completing)
        for what, found, known in (
            ("complete", completing, judged.completing()),
            ("start", starting, judged.startable()),
        ):
            different = known - found if has_untaken else known ^ found
            if different:
                yield f"the rules and the plan disagree whether {listing(sorted(different), 'or')} can {what}"

    def _compute_facts(self, plan: Plan, cycles: tuple[tuple[str, ...], ...]) -> Facts:
        most = min(
            plan.limits.executions or _MOST, _longest(plan, self._graph, {name for each in cycles for name in each})
        )
        return Facts(
            done=tuple(sorted(self._graph.predecessors(_DONE))),
            failed=tuple(sorted(self._graph.predecessors(_ENDS[Outcome.FAILED]))),
            interrupted=tuple(sorted(self._graph.predecessors(_ENDS[Outcome.INTERRUPTED]))),
            blocked=tuple(sorted(self._graph.predecessors(_ENDS[Outcome.BLOCKED]))),
            cycles=cycles,
            executions=most,
            turns=min(_MOST, _count_turns(plan, most)),
        )


def _choices(plan: Plan) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the shared choices of targets, with each node that they name."""
    return ((("choices", name), each) for name, nodes in plan.choices.items() for each in {*nodes.values()})


def _list_entered(entry: Entry) -> tuple[str, ...]:
    return tuple(entry.needs) if isinstance(entry, Schedule) else (entry,)


def _ahead(target: Target) -> tuple[Any, ...]:
    if isinstance(target, Stop):
        return (_ENDS[target.outcome],)
    match target:
        case Pick():
            return (("choices", target.choices),)
        case Go():
            return (target.node,) if target.otherwise is None else (target.node, target.otherwise)
        case Named():
            return tuple({*target.nodes.values()})
        case Fork() | Chain() | ForEach():
            return target.nodes if isinstance(target, Chain) or target.join is None else (*target.nodes, target.join)
        case Schedule():
            return tuple(target.needs)


def _count_turns(plan: Plan, most: int) -> int:
    """Return the most turns of a run: those of agents are a fact of their plans, and each transition has one run."""
    if plan.phases is None:
        return most * max((_turns(node) for node in plan.nodes.values()), default=0)
    known = [each.plan.facts for each in load_agents(plan).values()]
    return min(most, plan.phases.most) * max((each.turns for each in known if each is not None), default=0)


def _turns(node: Node) -> int:
    match node.act:
        case Converse(turns=turns):
            return turns if node.retry is None else turns * node.retry.attempts
        case Prompt():
            return _TURNS_OF_PROMPT
        case _:
            return 0


def _longest(plan: Plan, graph: Any, cyclic: Collection[str]) -> int:
    """Return the most executions of a run: without limit where it may come to a cycle or a validation that goes back.

    What remains without these, and without all that leads to them, can be sorted.
    """
    import networkx as nx

    back = (name for name, node in plan.nodes.items() if node.validation and node.validation.action == "retry")
    graph.add_edges_from((name, _ENDLESS) for name in (*cyclic, *back))
    without_limit = _ancestors(graph, _ENDLESS)
    if _BEGIN in without_limit:
        return _MOST
    most: dict[Any, int] = {_ENDLESS: 0, **dict.fromkeys(_ENDS.values(), 0)}
    for name in nx.topological_sort(graph.reverse(copy=False).subgraph(graph.nodes - without_limit)):
        if name not in most and name not in plan.nodes:
            most[name] = max((most[each] for each in graph.successors(name)), default=0)
        if name in plan.nodes:
            ways = [_count_ahead(edge.target, most) for edge in plan.nodes[name].edges]
            most[name] = min(_MOST, 1 + max(ways, default=0))
    begun = (sum(most[name] for name in _list_entered(entry)) for entry in plan.entries.values())
    return min(_MOST, max(begun, default=0))


def _count_ahead(target: Target, most: Mapping[Any, int]) -> int:
    ahead = [most[each] for each in _ahead(target)]
    if isinstance(target, ForEach):
        joined = 0 if target.join is None else most[target.join]
        return joined + target.most * sum(most[each] for each in target.nodes)
    return sum(ahead) if isinstance(target, Fork | Chain | Schedule) else max(ahead, default=0)


def _descendants(graph: Any, node: Any) -> frozenset[Any]:
    import networkx as nx

    return frozenset(nx.descendants(graph, node))


def _ancestors(graph: Any, node: Any) -> frozenset[Any]:
    import networkx as nx

    return frozenset(nx.ancestors(graph, node))


def _targets(plan: Plan, naming: Collection[str]) -> Iterator[tuple[str, Target]]:
    """Yield the targets of each node, but not what the answers of some may name: the rules leave that open."""
    for name, node in plan.nodes.items():
        for edge in node.edges:
            if not (isinstance(edge.target, Named | Pick) and name in naming):
                yield name, edge.target


def _completing(plan: Plan, naming: Collection[str]) -> frozenset[str]:
    """Return the nodes from which a run or a scope can end as done: a scope does when all that runs in it does.

    Backwards from the end, and once more from every scope of which all nodes were found; what was found is taken away.
    """
    import networkx as nx

    back = nx.DiGraph()
    back.add_node(_DONE)
    back.add_edges_from((each, shared) for shared, each in _choices(plan))
    waiting: dict[str, list[int]] = {}
    scopes: list[tuple[str, set[str]]] = []
    for name, target in _targets(plan, naming):
        if isinstance(target, ForEach):  # its list may be empty
            back.add_edge(_DONE if target.join is None else target.join, name)
        elif isinstance(target, Fork | Chain | Schedule):
            scopes.append((name, {*_ahead(target)}))
            for each in scopes[-1][1]:
                waiting.setdefault(each, []).append(len(scopes) - 1)
        else:
            back.add_edges_from((each, name) for each in _ahead(target))
    found: set[str] = set()
    while fresh := nx.descendants(back, _DONE):
        found |= fresh
        back.remove_nodes_from(fresh)
        for name, at in [(one, at) for one in fresh for at in waiting.get(one, ())]:
            source, missing = scopes[at]
            missing.discard(name)
            if not missing and source not in found:
                back.add_edge(_DONE, source)
    return frozenset(found & plan.nodes.keys())


def _starting(plan: Plan, naming: Collection[str], completing: Collection[str]) -> frozenset[str]:
    """Return the nodes that some run reaches: a join and the next stage of a chain if the stages before it can end."""
    import networkx as nx

    ahead = nx.DiGraph()
    for entry in plan.entries.values():
        begun = _find_scheduled(entry, completing) if isinstance(entry, Schedule) else (entry,)
        ahead.add_edges_from((_BEGIN, node) for node in begun)
    ahead.add_edges_from(_choices(plan))
    for name, target in _targets(plan, naming):
        ahead.add_edges_from((name, each) for each in _find_begun(target, completing))
    return _descendants(ahead, _BEGIN) & plan.nodes.keys() if _BEGIN in ahead else frozenset()


def _find_begun(target: Target, completing: Collection[str]) -> tuple[Any, ...]:
    """Return the nodes that can begin after a target was taken."""
    if isinstance(target, Chain):
        first_stuck = next((at for at, each in enumerate(target.nodes) if each not in completing), len(target.nodes))
        return target.nodes[: first_stuck + 1]
    if isinstance(target, Schedule):
        return _find_scheduled(target, completing)
    if isinstance(target, Fork) and any(each not in completing for each in target.nodes):
        return target.nodes
    return _ahead(target)


def _find_scheduled(schedule: Schedule, completing: Collection[str]) -> tuple[str, ...]:
    """Return the nodes of a schedule that can begin: all but those behind a node that cannot complete."""
    import networkx as nx

    behind = nx.DiGraph((each, name) for name, needed in schedule.needs.items() for each in needed)
    stuck = [each for each in behind if each not in completing]
    behind.add_edges_from([(_BEGIN, after) for each in stuck for after in behind.successors(each)])
    blocked = nx.descendants(behind, _BEGIN) if _BEGIN in behind else frozenset()
    return tuple(name for name in schedule.needs if name not in blocked)
