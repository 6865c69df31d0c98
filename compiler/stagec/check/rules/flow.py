"""STG600-STG649: flows that cannot start, end or go on as they should; the same rules for every system."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.value import replace
from stagec.core.words import format_count, listing, quote
from stagec.ir.flow import Entry, FlowNode, WrittenEdge
from stagec.ir.graph import Graph, Trap, build, noun
from stagec.ir.plan.node import ForEach, Fork, Named, Target, list_opened, list_targets

FAMILY = Family(__name__, (range(600, 650),), Graph)
rule = FAMILY.rule


_FLOW_SHOWN = 8
"""Ways to a node of which something is said."""


def roots(graph: Graph) -> tuple[str, ...]:
    """Return the unreachable nodes that stand for all: one of every group that nothing unreachable leads to."""
    lost = set(graph.unstartable())
    if not lost:
        return ()
    groups = [group for group in graph.components() if group[0] in lost]
    led = _find_led(graph, {name: at for at, group in enumerate(groups) for name in group})
    first = {group for group in groups if not led.intersection(group)}
    order = {name: position for position, name in enumerate(graph.flow.nodes)}
    return tuple(sorted((min(group, key=order.__getitem__) for group in first), key=order.__getitem__))


def _find_led(graph: Graph, groups: Mapping[str, int]) -> set[str]:
    """Return the nodes of some groups to which a node of another one leads; targets that many share are read once."""
    led: set[str] = set()
    shared: dict[int, tuple[Target, set[int]]] = {}
    for name, group in groups.items():
        for edge in graph.flow.nodes[name].edges:
            shared.setdefault(id(edge.target), (edge.target, set()))[1].add(group)
    for target, sources in shared.values():
        led.update(each for each in list_targets(target) if each in groups and not sources <= {groups[each]})
    return led


def leading_to_gates(graph: Graph) -> frozenset[str]:
    """Return the unreachable nodes that runs need, and those that lead to such nodes."""
    found: set[str] = set()
    lost = set(graph.unstartable())
    for group in graph.components() if lost else ():
        if group[0] in lost:
            nodes = [graph.flow.nodes[name] for name in group]
            ahead = (target for node in nodes for edge in node.edges for target in list_targets(edge.target))
            if not all(node.idle for node in nodes) or not found.isdisjoint(ahead):
                found.update(group)
    return frozenset(found)


def ends(graph: Graph) -> tuple[Trap, ...]:
    """Return the traps that no answer leads out of; where answers may name any node, one may also lead into a trap.

    Answers lead out of nothing where no node at all completes.
    """
    if not graph.flow.open:
        return graph.traps()
    found = _freely_entered(graph).traps() if is_open(graph) else graph.traps()
    closed = tuple(trap for trap in found if graph.flow.open.isdisjoint(trap.nodes))
    return closed or (() if graph.completing() else found)


def _freely_entered(graph: Graph) -> Graph:
    """Return the graph of a flow in which runs may come to any node, as an answer may name it."""
    named = {f"named {each}": Entry(each, graph.flow.nodes[each].at) for each in graph.unstartable()}
    return build(replace(graph.flow, entries={**graph.flow.entries, **named})) if named else graph


def is_open(graph: Graph) -> bool:
    """Tell whether a run can come to a node whose answers may name any node."""
    return not graph.flow.open.isdisjoint(graph.startable())


def is_told(graph: Graph) -> bool:
    """Tell whether a node that nothing leads to is unreachable for no other reason than that."""
    flow = graph.flow
    return graph.exact and not (flow.suspect or flow.strays) and not is_open(graph) and not ends(graph)


def find_ignored(graph: Graph, names: Iterable[str]) -> Mapping[str, tuple[str, tuple[Related, ...]]]:
    """Return the remark about moves to some nodes that no run takes: the end of a sentence, and the places."""
    wanted = dict.fromkeys(names)
    found: dict[str, list[WrittenEdge]] = {}
    for edge in graph.flow.ignored if wanted else ():
        for target in list_targets(edge.target):
            found.setdefault(graph.flow.called.get(target, target), []).append(edge)
    what = noun(graph, "node")
    return {
        name: (
            f"; {what} {quote(edges[0].source)} names it under {quote(edges[0].on)}, which no run follows",
            tuple(Related(edge.at, "no run follows this") for edge in edges[:_FLOW_SHOWN]),
        )
        for name, edges in found.items()
        if name in wanted
    }


def only_awaited(graph: Graph) -> Mapping[str, tuple[WrittenEdge, ...]]:
    """Return the nodes that runs come to on no other way than as a part of what a join waits for, and these ways."""
    ways: dict[str, list[WrittenEdge]] = {}
    starts = graph.startable()
    for node in graph.flow.nodes.values():
        for edge in node.edges if node.id in starts else ():
            for target in () if isinstance(edge.target, Named) else list_opened(edge.target):
                ways.setdefault(target, []).append(edge)
    begun = {entry.node for entry in graph.flow.begun} | _list_picked(graph)
    joins = {each.target.join for all_ways in ways.values() for each in all_ways if isinstance(each.target, Fork)}
    return {
        name: tuple(all_ways)
        for name, all_ways in ways.items()
        if name not in begun | joins and all(isinstance(way.target, Fork) and way.target.join for way in all_ways)
    }


def only_collected(graph: Graph) -> frozenset[str]:
    """Return the nodes that run only for elements of lists whose joins also see failed elements."""
    flow, every = graph.flow, frozenset(graph.flow.nodes)
    targets = (edge.target for node in flow.nodes.values() for edge in node.edges)
    if not any(isinstance(each, ForEach) and each.collect for each in targets):
        return frozenset()
    todo = [entry.node for entry in flow.begun]
    known = set(todo)
    for name in todo:  # grows while it is read
        for edge in flow.nodes[name].edges:
            ahead: Sequence[str] = list_targets(edge.target)
            if isinstance(edge.target, ForEach) and edge.target.collect:
                ahead = [each for each in ahead if each == edge.target.join]
            fresh = [each for each in dict.fromkeys(ahead) if each in every and each not in known]
            known.update(fresh)
            todo.extend(fresh)
    return every - known


def first_ways(graph: Graph, names: Collection[str]) -> Mapping[str, list[WrittenEdge]]:
    """Return the first edges that lead to each of some nodes; targets that many edges share are read once."""
    shared: dict[int, list[tuple[int, WrittenEdge]]] = {}
    every = (edge for node in graph.flow.nodes.values() for edge in node.edges) if names else ()
    for numbered in enumerate(every):
        shared.setdefault(id(numbered[1].target), []).append(numbered)
    found: dict[str, list[tuple[int, WrittenEdge]]] = {name: [] for name in names}
    for ways in shared.values():
        for each in found.keys() & list_targets(ways[0][1].target):
            found[each] += ways[:_FLOW_SHOWN]
    return {name: [edge for _, edge in sorted(ways, key=itemgetter(0))[:_FLOW_SHOWN]] for name, ways in found.items()}


def _list_picked(graph: Graph) -> frozenset[str]:
    """Return the nodes that answers may name; a node that waits for all its edges is none of them."""
    return frozenset[str]().union(*(target.nodes.values() for target, _ in graph.flow.choices))


def order(graph: Graph) -> dict[str, int]:
    """Return the nodes that can start, numbered in the order in which runs come to them."""
    starts = graph.startable()
    found = list(dict.fromkeys(entry.node for entry in graph.flow.begun if entry.node in starts))
    known = set(found)
    for name in found:  # grows while it is read
        for edge in graph.flow.nodes[name].edges:
            fresh = [each for each in dict.fromkeys(list_targets(edge.target)) if each in starts and each not in known]
            found.extend(fresh)
            known.update(fresh)
    return {name: at for at, name in enumerate(found)}


_UNREACHABLE_NODE_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-gated", "steps-registry:doc.R-B13", "climpt-1.14:wf.flow-unreachable"),
)
def stg601_unreachable_node(graph: Graph) -> Iterator[Finding]:
    """No run ever reaches a node.

    ## Why this matters
    A node that no way from any entry leads to never runs. Most often a transition was renamed or removed on one side
    only, and the flow ends, or goes round, where its author believes that it goes on. A node without a gate is told
    here when nodes with a gate are reached only from it, and else as a warning ([STG603](STG603.md)).

    ## How to fix
    Add the transition that should lead there, or delete the node. Nodes that are reached only from this one are listed
    as notes ([STG602](STG602.md)). A step registry names the steps where runs begin in `entryStepMapping`, by verdict
    type ([STG217](STG217.md)), and in `entryStep`. In an orchestrator file, an issue comes to a phase by a label of
    `labelMapping` or by an outcome of an agent.
    """
    if not is_told(graph):
        return
    entries = graph.flow.begun
    starts = listing(dict.fromkeys(entry.node for entry in entries), "or")
    related = tuple(Related(entry.at, "a run begins here") for entry in entries)[:_UNREACHABLE_NODE_SHOWN]
    heavy = leading_to_gates(graph)
    lost = [name for name in roots(graph) if name in heavy]
    ignored = find_ignored(graph, lost)
    for name in lost:
        why, ways = ignored.get(name, ("", ()))
        message = f"{noun(graph, 'node')} {quote(name)} is never reached: no way from {starts} leads there{why}"
        yield Finding(graph.flow.nodes[name].at.key, message, (*related, *ways))


_UNREACHABLE_FOLLOW_ON_SHOWN = 8


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-gated", "steps-registry:flow.orphan-ungated", "steps-registry:doc.R-B13"),
    severity=Severity.NOTE,
)
def stg602_unreachable_follow_on(graph: Graph) -> Iterator[Finding]:
    """Nodes are unreachable because of an error that is reported elsewhere.

    ## Why this matters
    It never runs, but the reason is another one's: it is reached only from a node that is unreachable itself, or a
    transition of the flow is wrong in a way that has a diagnostic of its own. Or no transition leads to it, and it
    runs only if an answer happens to name it where the schema leaves the target of a jump open.

    ## How to fix
    Fix the other errors; this note then goes away, or becomes an error of its own. Where an answer may name any node,
    let the schema list those that are meant.
    """
    if not graph.exact:
        return
    reported = {_find_told(graph, name).node for name in roots(graph)} if is_told(graph) else set()
    free = not (graph.flow.suspect or graph.flow.strays or ends(graph)) and is_open(graph)
    told = {
        each.node: each.at for name in graph.unstartable() if (each := _find_told(graph, name)).node not in reported
    }
    lost = list(told)
    is_one = len(lost) == 1
    why = f"{'is' if is_one else 'are'} not reached; another diagnostic of this flow may be the cause"
    if free:
        why = f"{'is' if is_one else 'are'} reached only if an answer names {'it' if is_one else 'them'}"
    elif reported:
        why = f"{'is' if is_one else 'are'} reached only from {noun(graph, 'node')}s that are never reached themselves"
    for first, *others in [lost] if lost else ():
        related = tuple(Related(told[name].key, "this one too") for name in others[:_UNREACHABLE_FOLLOW_ON_SHOWN])
        what = f"{noun(graph, 'node')}{'' if is_one else 's'} {listing(lost)}"
        yield Finding(told[first].key, f"{what} {why}", related)


def _find_told(graph: Graph, name: str) -> Entry:
    """Return the subject of the finding for an unreachable node: the node that runs an inner flow stands for the nodes
    inside.
    """
    node = graph.flow.nodes[name]
    return node.caller or Entry(name, node.at)


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-ungated", "stage-definitions:stage-unreachable"),
    severity=Severity.WARNING,
)
def stg603_unreachable_idle_node(graph: Graph) -> Iterator[Finding]:
    """No run ever reaches a node, and none needs it.

    ## Why this matters
    Runs are sound without the node, but it is dead weight: its prompt is never used, and whoever reads the project
    believes that it is. In a pipeline any stage can be left out; in a step registry a step without a gate can, unless
    steps with a gate are reached only from it ([STG601](STG601.md)).

    ## How to fix
    Let another node lead to it, or delete it. In a step registry, mark it as a section if it is part of other prompts.
    """
    if not is_told(graph):
        return
    heavy = leading_to_gates(graph)
    lost = [name for name in roots(graph) if name not in heavy]
    ignored = find_ignored(graph, lost)
    for name in lost:
        (why, ways), told = ignored.get(name, ("", ())), _find_told(graph, name)
        message = f"{noun(graph, 'node')} {quote(told.node)} is never reached, and no run needs it{why}"
        yield Finding(told.at.key, message, ways)


@rule(
    since="0.1",
    origin=(
        "steps-registry:flow.entry-no-closure",
        "steps-registry:flow.cycle-no-closure",
        "steps-registry:beyond.livelock",
        "climpt-1.14:wf.flow-trap",
    ),
)
def stg604_endless_cycle(graph: Graph) -> Iterator[Finding]:
    """Runs enter a cycle that none of them can leave towards an end.

    ## Why this matters
    Whatever is answered, the run goes round until its budget is spent, and never completes. `abort` is no way out: it
    ends the run as failed. An agent whose verdict type is `count:iteration` counts such a run as completed, but no
    closure step has closed it and no answer can end it earlier: a step with a gate needs a way to a `closing`.

    ## How to fix
    Allow one of these nodes an outcome that leads to where the flow completes. In a step registry only a closure step
    that allows `closing` completes a run, and work reaches it by `handoff`; in a pipeline a case that names no stages
    does, and so does a stage after which nothing follows; in an orchestrator file every terminal and every blocking
    phase ends a run.
    """
    if not graph.exact or graph.flow.suspect:
        return
    for trap in ends(graph):
        if not trap.cycle:
            continue
        mistaken = _mistaken(graph, trap)
        last = graph.flow.nodes[trap.nodes[-1]]
        others = tuple(Related(graph.flow.nodes[name].at.key, "part of the cycle") for name in trap.nodes[:-1][:8])
        called = noun(graph, "node")
        what = f"{called} {quote(trap.nodes[-1])} can only lead back to itself"
        if len(trap.nodes) > 1:
            what = f"{called}s {listing(trap.nodes)} lead only to each other"
        if not graph.flow.open.isdisjoint(trap.nodes):
            what = f"{what}, or to the {called} that an answer names"
        message, counted = f"{what}: no run that gets here can complete", graph.flow.counted_at
        if counted is not None:
            message = f"{what}: only the limit of {called}s ends a run that gets here"
            others = (*others, Related(counted, f"counts {called}s"))
        yield Finding(mistaken or last.decided_at or last.at, message, others, causes=graph.grounds(trap.nodes))


def _mistaken(graph: Graph, trap: Trap) -> Place | None:
    """Return the backward edge that probably should lead to an unreachable node."""
    lost = {graph.flow.nodes[name].kind for name in roots(graph)}
    edges = (edge for name in trap.nodes for edge in graph.flow.nodes[name].edges)
    return next((edge.at for edge in edges if edge.kinds is not None and edge.kinds & lost), None)


@rule(
    since="0.1",
    origin=("steps-registry:flow.no-closure", "steps-registry:flow.entry-no-closure", "climpt-1.14:wf.flow-trap"),
)
def stg605_dead_end(graph: Graph) -> Iterator[Finding]:
    """Runs reach a node that has no successor and does not complete them.

    ## Why this matters
    Whatever the node answers, the run fails or stands still there. If it runs for an element of a list whose failures
    are collected, the element fails and the run continues: this is a warning.

    ## How to fix
    Give the node an outcome that leads on, or make it one that completes the run. In a pipeline, a stage with a check
    that fails every result is left only by a case for `verdict: fail`.
    """
    if not graph.exact or graph.flow.suspect:
        return
    found = [trap for trap in ends(graph) if not trap.cycle]
    awaited, collected = (only_awaited(graph), only_collected(graph)) if found else ({}, frozenset[str]())
    ways = first_ways(graph, {trap.nodes[-1] for trap in found})
    for trap in found:
        if trap.nodes[-1] in awaited:
            continue
        node = graph.flow.nodes[trap.nodes[-1]]
        related = tuple(Related(edge.at, "a run gets here by this") for edge in ways[node.id])
        message = f"{noun(graph, 'node')} {quote(node.id)} does not complete a run, and nothing can run after it"
        at, severity = node.decided_at or node.at, None
        if node.id in collected:
            message = f"every element that reaches {noun(graph, 'node')} {quote(node.id)} fails"
            severity = Severity.WARNING
        yield Finding(at, message, related, causes=(at, *graph.grounds(trap.nodes)), severity=severity)


@rule(since="0.1", origin=("steps-registry:flow.boundary",))
def stg606_foreign_target_kind(graph: Graph) -> Iterator[Finding]:
    """An outcome leads to a node of a kind that it must not lead to.

    ## Why this matters
    Kinds keep a flow in order: work is verified and handed off, and only closure ends a run. A transition that skips
    this order reaches closure without a hand-off, or goes back where no way on is foreseen.

    | from | outcome | may lead to |
    |---|---|---|
    | work | next, jump | work, verification |
    | work | handoff | closure, or the first step of another flow |
    | verification | escalate | work, verification |
    | closure | repeat | itself, work |

    ## How to fix
    Lead the transition to a node of a fitting kind, or use the outcome that may lead to this one. Whoever deletes the
    transition deletes its intent from `allowedIntents` and from the schema's enum as well.
    """
    known: dict[tuple[int, frozenset[str] | None], list[FlowNode]] = {}
    for node in graph.flow.nodes.values():
        told: dict[Place, list[tuple[WrittenEdge, list[FlowNode]]]] = {}
        for edge in node.edges:
            foreign = _foreign(graph, edge, known) if edge.kinds is not None and not edge.repair else None
            if foreign:
                told.setdefault(edge.at, []).append((edge, foreign))
        exchanged = [*told][:1] if _has_exchanged(told) else []
        for at, ways in told.items():
            (edge, found), *others = ways
            found = [*found, *(each for _, more in others for each in more)] if others else found
            related = tuple(Related(target.at.key, "leads here") for target in found[:_UNREACHABLE_FOLLOW_ON_SHOWN])
            causes = (*(target.at for target in found), *(each for each in exchanged if each != at))
            yield Finding(at, _describe_wrong_kinds(graph, node, edge, found), related, causes=causes)


def _has_exchanged(told: Mapping[Place, list[tuple[WrittenEdge, list[FlowNode]]]]) -> bool:
    """Tell whether a node has two wrong edges of which each may lead to where the other does."""
    both = [way for ways in told.values() for way in ways]
    if len(both) != len(told) or len(both) != _TWO:
        return False
    (one, found), (other, others) = both
    return all(each.kind in (one.kinds or ()) for each in others) and all(
        each.kind in (other.kinds or ()) for each in found
    )


_TWO = 2


def _foreign(
    graph: Graph, edge: WrittenEdge, known: dict[tuple[int, frozenset[str] | None], list[FlowNode]]
) -> list[FlowNode]:
    """Return the nodes an edge leads to although their kind forbids it; edges that share a target share the answer."""
    key = (id(edge.target), edge.kinds)
    if key not in known:
        found = [graph.flow.nodes[name] for name in list_targets(edge.target) if name in graph.flow.nodes]
        known[key] = [each for each in found if each.kind is not None and each.kind not in (edge.kinds or ())]
    return known[key]


def _describe_wrong_kinds(graph: Graph, node: FlowNode, edge: WrittenEdge, found: list[FlowNode]) -> str:
    allowed = " or ".join(sorted(edge.kinds or ()))
    step = noun(graph, "node")
    what = f"{quote(edge.on)} of {node.kind} {step} {quote(node.id)} must lead to a {allowed} {step}"
    if len(found) == 1:
        return f"{what}, but {quote(found[0].id)} is a {found[0].kind} {step}"
    return f"{what}, but {listing([each.id for each in found])} are not"


@rule(since="0.1", origin=("steps-registry:beyond.livelock", "rulings:R29", "climpt-1.14:wf.bound-too-small"))
def stg607_unmeetable_bound(graph: Graph) -> Iterator[Finding]:
    """Even the shortest run takes longer than a run may take.

    ## Why this matters
    The bound is reached before any run can complete, so every run ends as failed. What runs at the same time counts
    one by one: a fork takes as many executions as it has nodes, and its join one more.

    ## How to fix
    Raise the bound, or shorten the way from the entry to completion.
    """
    bound = graph.flow.bound
    if bound is None or not graph.exact or graph.flow.suspect:
        return
    flow = graph.flow
    least = {name: graph.shortest_run(name) or 0 for name in (*flow.entries, *flow.schedules)}
    late = [entry for name in least if least[name] > bound.executions for entry in flow.list_begun(name)]
    if late:
        shortest = min(each for each in least.values() if each > bound.executions)
        who = listing(dict.fromkeys(each.node for each in late), "or")
        what, fewer = ("transition", 1) if bound.counts_moves else (noun(graph, "node"), 0)
        needs = f"a run from {who} needs at least {format_count(shortest - fewer, what)}"
        related = tuple(Related(each.at, "a run begins here") for each in late[:_UNREACHABLE_FOLLOW_ON_SHOWN])
        yield Finding(bound.at, f"{needs}, but may take only {bound.executions - fewer}", related)


@rule(since="0.1", origin=("stage-definitions:pipeline-cycle",))
def stg608_unbounded_cycle(graph: Graph) -> Iterator[Finding]:
    """A cycle may be run through any number of times.

    ## Why this matters
    Each time round is paid for, and whether a run leaves the cycle depends on answers alone. Nothing but a bound keeps
    it from going on for ever.

    ## How to fix
    Write down how many executions a run may take: in a pipeline, as `maxStageExecutions`. A run that reaches the bound
    ends as failed.
    """
    at = graph.flow.bound_at
    if at is None or graph.flow.bound is not None or graph.flow.suspect:
        return
    place = order(graph)
    endless = {name for trap in ends(graph) for name in trap.nodes}
    for cycle in graph.cycles():
        inside = {name: place[name] for name in sorted(place.keys() & cycle, key=lambda name: place[name])}
        closing = _closing(graph, inside, part=len(inside) < len(cycle))
        if closing is not None and endless.isdisjoint(cycle):
            what = f"{noun(graph, 'node')}{'s' if len(inside) > 1 else ''} {listing(inside)}"
            where = f"say how many executions a run may take, as {quote(at.pointer[-1])} in {quote(at.file)}"
            yield Finding(closing.at, f"{what} can run again and again without a bound; {where}")


def _closing(graph: Graph, inside: dict[str, int], *, part: bool) -> WrittenEdge | None:
    """Return the first edge that leads back; where only a part of a cycle can be entered, one that closes it there."""
    for name, place in inside.items():
        for edge in graph.flow.nodes[name].edges:
            back = [each for each in list_targets(edge.target) if inside.get(each, place + 1) <= place]
            if any(not part or name in _ahead(graph, each, inside) for each in back):
                return edge
    return None


def _ahead(graph: Graph, name: str, inside: dict[str, int]) -> dict[str, None]:
    found, todo = {name: None}, [name]
    for each in todo:  # grows while it is read
        leads = (target for edge in graph.flow.nodes[each].edges for target in list_targets(edge.target))
        fresh = [target for target in dict.fromkeys(leads) if target in inside and target not in found]
        found |= dict.fromkeys(fresh)
        todo.extend(fresh)
    return found


@rule(since="0.1", origin=("rulings:pipelines",))
def stg609_unstartable_join(graph: Graph) -> Iterator[Finding]:
    """A join waits for a node that can never succeed, and so never runs.

    ## Why this matters
    A join starts only when everything that it waits for has succeeded. If one of these nodes always fails, every run
    that gets there fails, and the work of the others is lost.

    ## How to fix
    Let the node succeed, or give it a way on for its failures that ends well. In a pipeline these are checks that do
    not fail every result, or a branch of recovery: a case for `verdict: fail`.
    """
    if not graph.exact or graph.flow.suspect:
        return
    stuck = [trap.nodes[-1] for trap in ends(graph) if not trap.cycle]
    awaited = only_awaited(graph) if stuck else {}
    for name in stuck:
        node, said = graph.flow.nodes[name], set[str]()
        for way in awaited.get(name, ()):
            join = way.target.join if isinstance(way.target, Fork) else None
            if join is not None and join not in said:
                said.add(join)
                message = f"{quote(join)} can never run as the join of {quote(way.source)}"
                because = f"{noun(graph, 'node')} {quote(name)}, which it waits for, never succeeds"
                related = (Related(node.decided_at or node.at, "fails here"),)
                yield Finding(way.at, f"{message}: {because}", related, causes=graph.grounds((name,)))
