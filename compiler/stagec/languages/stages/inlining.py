"""Puts the flows of inner pipelines in the place of the stages as which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.core.canonical import compact
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.ir.flow import Entry, Flow, FlowNode, InnerFlow, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Outcome, Stop, Target
from stagec.languages.stages.document import Pipeline, Stage
from stagec.languages.stages.inner import can_run
from stagec.languages.stages.inner_inputs import look_outside

_CONTEXT, _END = "ctx", Stop(Outcome.DONE)


def list_inlined(pipeline: Pipeline) -> Mapping[str, Stage]:
    """Return the stages in whose place the nodes of their pipelines stand, by id."""
    return {
        name: stage for name, stage in pipeline.by_id.items() if stage.inner is not None and can_run(pipeline, stage)
    }


@value
class _Names:
    """What nodes are called in the flow around: those where a stage begins and ends, and those of an inner pipeline."""

    first: Mapping[str, str]
    last: Mapping[str, str]
    prefix: str = ""
    context: Mapping[str, str] = NOTHING

    def begin(self, name: str) -> str:
        """Return the node with which a stage begins."""
        return self.prefix + self.first.get(name, name)

    def end(self, name: str) -> str:
        """Return the node whose result is that of a stage."""
        return self.prefix + self.last.get(name, name)

    def aim(self, target: Target) -> Target:
        """Return a target with its nodes as they are called here."""
        match target:
            case Go():
                return Go(self.begin(target.node))
            case Fork():
                join = None if target.join is None else self.begin(target.join)
                return Fork(tuple(map(self.begin, target.nodes)), join)
            case Chain():
                return Chain(tuple(map(self.begin, target.nodes)))
            case ForEach():
                join = None if target.join is None else self.begin(target.join)
                path = target.list
                if path[:1] == (_CONTEXT,) and len(path) > 1:
                    path = (_CONTEXT, self.context.get(str(path[1]), path[1]), *path[2:])
                return replace(target, list=path, nodes=tuple(map(self.begin, target.nodes)), join=join)
            case _:
                return target

    def edge(self, written: WrittenEdge) -> WrittenEdge:
        """Return an edge between nodes as they are called here."""
        edge = replace(written.edge, target=self.aim(written.target))
        return replace(written, source=self.end(written.source), edge=edge)

    def node(self, node: FlowNode) -> FlowNode:
        """Return a node as it is called here."""
        caller = None if node.caller is None else replace(node.caller, node=self.prefix + node.caller.node)
        return replace(node, id=self.end(node.id), edges=tuple(map(self.edge, node.edges)), caller=caller)

    def flow(self, flow: Flow) -> Flow:
        """Return a flow with its nodes as they are called here."""
        nodes = map(self.node, flow.nodes.values())
        return replace(
            flow,
            entries={name: Entry(self.begin(each.node), each.at) for name, each in flow.entries.items()},
            nodes={each.id: each for each in nodes},
            reads=tuple(
                replace(
                    each,
                    node=self.end(each.node),
                    sources=tuple(replace(one, node=self.end(one.node)) for one in each.sources),
                )
                for each in flow.reads
            ),
            demands=tuple(
                replace(
                    each,
                    node=self.end(each.node),
                    unmet=tuple(replace(one, node=self.end(one.node)) for one in each.unmet),
                )
                for each in flow.demands
            ),
            lost=tuple(map(self.edge, flow.lost)),
        )


def inline(pipeline: Pipeline, own: Flow, lower: Callable[[Pipeline], Flow | None]) -> Flow:
    """Return the flow of a pipeline in which the nodes of inner ones stand in the place of their stages."""
    inner = dict(_list_inner(pipeline, lower))
    first = {name: f"{name}/{flow.entries[''].node}" for name, (_, flow) in inner.items()}
    last = {name: f"{name}/{_find_last(stage, flow)}" for name, (stage, flow) in inner.items()}
    around = _Names(first, last).flow(own)
    flows, named = [own], dict(_list_called(pipeline))
    standing: dict[str, list[FlowNode]] = {}  # for a node of the flow around
    for name, (stage, flow) in inner.items():
        within = _Names({}, {}, f"{name}/", look_outside(stage).names).flow(flow)
        end, reached = around.nodes[last[name]], build(within).startable()
        called = (
            replace(each, caller=Entry(name, stage.id_at)) if each.id in reached else each
            for each in within.nodes.values()
        )
        standing[end.id] = [_lead_on(each, end) if each.id == end.id else each for each in called]
        if stage.inner is not None and not stage.inner.is_flow:  # else its own flow has them, and they are judged there
            reads, demands = (*around.reads, *within.reads), (*around.demands, *within.demands)
            around = replace(around, reads=reads, demands=demands)
        flows.append(flow)
        named |= {f"{name}/{inside}": each for inside, each in flow.inner.items()}
    whole = len(inner) == len(pipeline.inner)
    return replace(
        around,
        nodes={each.id: each for node in around.nodes.values() for each in standing.get(node.id, [node])},
        exact=whole and all(each.exact for each in flows),
        suspect=not whole or any(each.suspect for each in flows),
        strays=any(each.strays for each in flows),
        inner=named,
    )


def _list_called(pipeline: Pipeline) -> Iterator[tuple[str, InnerFlow]]:
    """Yield the pipelines that run as stages, also those that cannot, as far as there is a file."""
    for stage in pipeline.inner:
        if stage.inner is not None and stage.inner.file is not None:
            within, constants = stage.inner.pipeline, stage.inner.constants
            inputs = {
                name: compact(constants[name]) if name in constants else mention.name
                for name, mention in stage.inner.inputs.items()
            }
            yield stage.name, InnerFlow(within.id if within is not None else "", Place(stage.inner.file), inputs)


def _list_inner(
    pipeline: Pipeline, lower: Callable[[Pipeline], Flow | None]
) -> Iterator[tuple[str, tuple[Stage, Flow]]]:
    for name, stage in list_inlined(pipeline).items():
        within = stage.inner.pipeline if stage.inner is not None else None
        flow = lower(within) if within is not None else None
        if flow is not None:
            yield name, (stage, flow)


def _find_last(stage: Stage, flow: Flow) -> str:
    """Return the node of an inner flow whose result is its output, which may be in a pipeline in it."""
    found, names = stage, list[str]()
    while not names or "/".join(names) not in flow.nodes:
        within = found.inner.pipeline if found.inner is not None else None
        if within is None or within.output is None:
            break
        found = within.by_id[within.output.name]
        names.append(found.name)
    return "/".join(names)


def _lead_on(node: FlowNode, ways: FlowNode) -> FlowNode:
    """Return the last node of an inner pipeline: its successes lead where those of the stage around it do."""
    edges: list[WrittenEdge] = []
    for each in node.edges:
        if each.on != "ok" or each.target != _END:
            edges.append(each)
            continue
        edges.extend(
            replace(way, source=node.id, edge=Edge("ok", way.target, (*each.when, *way.when), way.edge.wait))
            for way in ways.edges
            if way.on == "ok"
        )
    return replace(node, edges=tuple(edges), decided_at=ways.decided_at)
