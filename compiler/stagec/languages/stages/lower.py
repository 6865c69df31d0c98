"""Lower a pipeline to a flow, with the flows of inner pipelines in the place of their stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.core.canonical import MOST, text_of
from stagec.core.place import Mention, Place
from stagec.core.value import NOTHING, replace, value
from stagec.ir.catalogue.document import LabelBook
from stagec.ir.flow import Bound, Entry, Flow, FlowNode, InnerFlow, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.gate import Term
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Outcome, Stop, Target
from stagec.ir.rights import Right, Rights
from stagec.languages.stages.condition_errors import find_uncovered, find_untaken, never_accepted
from stagec.languages.stages.document import Case, Mode, Pipeline, Profile, Stage
from stagec.languages.stages.durations import find_wait_error, read_deadline
from stagec.languages.stages.elements import find_list_mistake, find_nested
from stagec.languages.stages.inner import can_run, find_stray_ends, look_outside
from stagec.languages.stages.outcomes import can_skip
from stagec.languages.stages.reads import demands, reads
from stagec.sources.contract.schemas import Schema

_CONTEXT, _END = "ctx", Stop(Outcome.DONE)


def list_inlined(pipeline: Pipeline) -> Mapping[str, Stage]:
    """Return the stages in whose place the nodes of their pipelines stand, by id."""
    return {
        name: stage for name, stage in pipeline.by_id.items() if stage.inner is not None and can_run(pipeline, stage)
    }


@value
class _Names:
    """The names of nodes in the outer flow: those at which a stage begins and ends, and those of an inner pipeline."""

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
                name: text_of(constants[name]) if name in constants else mention.name
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


def read_rights(pipeline: Pipeline) -> Mapping[str, Rights]:
    """Return the rights of each stage, those of inner pipelines included."""
    book = LabelBook(pipeline.catalogue)
    inner = {name: stage.inner.pipeline for name, stage in list_inlined(pipeline).items() if stage.inner is not None}
    within = {
        f"{name}/{each}": rights
        for name, other in inner.items()
        for each, rights in (read_rights(other) if other is not None else {}).items()
    }
    return within | {
        name: Rights(
            tools=tuple(Right(each.name, each.at, book.find(each.name)) for each in _list_allowed(pipeline, stage)),
            is_open=stage.allowed is None and pipeline.catalogue is None and stage.profile is Profile.OBJECT,
            prompts=(stage.body.text,),
        )
        for name, stage in pipeline.by_id.items()
        if stage.inner is None
    }


def _list_allowed(pipeline: Pipeline, stage: Stage) -> Iterator[Mention]:
    """Yield the tools that a stage may call, each once; a stage object without a list may call all tools."""
    known = set[str]()
    for each in stage.allowed or ():
        if each.name not in known:
            known.add(each.name)
            yield each
    if stage.allowed is None and stage.profile is Profile.OBJECT and pipeline.catalogue is not None:
        yield from (Mention(name, stage.id_at) for name in pipeline.catalogue.by_name)


_NAMES: Mapping[str, str] = {"node": "stage", "outcome": "verdict"}
_BOUND = "maxStageExecutions"
_VERDICT = ("verdict",)


def lower(document: Pipeline) -> Flow | None:
    """Return the flow of a pipeline; stages that belong to none are no flow, nor what only runs as a stage here."""
    if not document.is_declared or not document.by_id or document.is_only_inner:
        return None
    own = _Lowering(document).flow()
    return inline(document, own, lower) if document.inner else own


class _Lowering:
    """Builds one flow and notes whether anything was too broken to become a part of it."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._exact = pipeline.is_whole and pipeline.is_unambiguous
        self._suspect = self._strays = False
        # the stages that only run as siblings whose success a join waits for
        joined: dict[str, bool] = {}
        for case in (each for stage in pipeline.by_id.values() for each in stage.conduct.cases):
            for mention in case.stages if case.mode is Mode.FORK else ():
                joined[mention.name] = joined.get(mention.name, True) and case.join is not None
        alone = {name for name, stage in pipeline.by_id.items() if not pipeline.is_only_sibling(stage)}
        self._awaited = frozenset(name for name, each in joined.items() if each and name not in alone)
        self._lost: list[WrittenEdge] = []
        self._lost_entries: list[tuple[str, Entry]] = []

    def flow(self) -> Flow:
        pipeline = self._pipeline
        nodes = {name: self._node(name, stage) for name, stage in pipeline.by_id.items()}
        entries = dict(self._entries())
        self._suspect = self._suspect or not all(pipeline.has_stage(each.name) for each in pipeline.routed)
        self._suspect = self._suspect or any(find_stray_ends(pipeline))  # a way to the output may be missing
        most, at = pipeline.max_executions, pipeline.at / _BOUND
        return Flow(
            id=pipeline.id,
            at=pipeline.at,
            entries=entries,
            nodes=nodes,
            bound=Bound(most, at) if most is not None else None,
            exact=self._exact,
            suspect=self._suspect,
            strays=self._strays,
            names=_NAMES,
            bound_at=at if most is not None or _BOUND not in pipeline.body else None,
            reads=tuple(reads(pipeline)),
            demands=tuple(demands(pipeline)),
            lost=tuple(self._lost),
            lost_entries=tuple(self._lost_entries),
            deadline=read_deadline(pipeline.deadline),
        )

    def _entries(self) -> Iterator[tuple[str, Entry]]:
        entry = self._pipeline.entry
        found = self._guess_meant(entry) if entry is not None else None
        if entry is not None and entry.name != found:
            self._lost_entries.append(("", Entry(entry.name, entry.at)))
        if entry is None or found is None:
            self._exact = False
            return
        self._suspect = self._suspect or entry.name != found
        yield "", Entry(found, entry.at)

    def _node(self, name: str, stage: Stage) -> FlowNode:
        edges = tuple(self._edges(name, stage))
        # where a stage says what it leads to, or why it never succeeds
        checks = () if _can_succeed(self._pipeline, stage) else stage.conduct.checks
        failing = [check.at for check in checks if not check.when] or [check.at for check in checks]
        decided_at = failing[0] if failing else stage.conduct.next_at or stage.id_at
        # what belongs to a stage and its frontmatter or object does not say itself
        parts = [("prompt", stage.body.at)]
        if isinstance(stage.result, Schema):
            parts.append(("schema", stage.result.at))
        return FlowNode(
            name,
            stage.id_at,
            edges=edges,
            idle=True,
            decided_at=decided_at,
            parts=tuple(parts),
            deadline=read_deadline(stage.conduct.deadline),
        )

    def _edges(self, name: str, stage: Stage) -> Iterator[WrittenEdge]:
        cases, succeeds = self._pipeline.live_cases(stage), _can_succeed(self._pipeline, stage)
        untaken = find_untaken(self._pipeline, stage)
        for case in cases:
            # the verdict with which a case is followed: any that is no failure is `ok`
            outcome = "ok" if succeeds and case.is_for_success else None
            if outcome is None:  # a failed result can only match a case that asks for the verdict
                asked = [each for each in case.when if each.path == _VERDICT]
                outcome = "fail" if any(each.present or "fail" in each.values for each in asked) else None
            target = self._target(name, case) if outcome is not None else None
            self._lost.extend(self._list_lost_ways(name, outcome or "ok", case))
            if outcome is not None and target is not None:
                repair, is_untaken = self._is_repaired(case), case.at in untaken
                edge = Edge(outcome, target, _terms(case), _find_wait(case, target))
                yield WrittenEdge(name, edge, case.at, repair=repair, untaken=is_untaken)
        if succeeds and (self._pipeline.is_sibling(name) or not any(case.is_for_success for case in cases)):
            yield WrittenEdge(name, Edge("ok", Stop(Outcome.DONE)), stage.at)
        yield WrittenEdge(name, Edge("fail", Stop(Outcome.FAILED)), stage.at)
        self._suspect = self._suspect or find_uncovered(self._pipeline, stage) is not None
        ignored = (each for case in self._pipeline.dead_cases(stage) for each in case.targets)
        self._strays = self._strays or any(each.name not in self._pipeline.incoming for each in ignored)

    def _list_lost_ways(self, name: str, outcome: str, case: Case) -> Iterator[WrittenEdge]:
        for mention in case.targets:
            if mention.name not in self._pipeline.by_id:
                yield WrittenEdge(name, Edge(outcome, Go(mention.name), _terms(case)), mention.at)

    def _target(self, name: str, case: Case) -> Target | None:
        self._exact = self._exact and case.is_whole and case.mode is not None
        if not case.stages:
            end = Outcome.FAILED if case.is_recovery and name in self._awaited else Outcome.DONE
            return Stop(end) if case.is_whole else None
        known = tuple(meant for each in case.stages if (meant := self._guess_meant(each)) is not None)
        joining = case.meant_join if case.mode is Mode.FORK else None
        join = None if joining is None else self._guess_meant(joining)
        nodes = tuple(each for each in known if each != join)
        nodes = tuple(dict.fromkeys(nodes)) if case.mode is Mode.FORK else nodes
        self._suspect = self._suspect or self._is_repaired(case)
        self._strays = self._strays or (case.join is not None and case.mode is not Mode.FORK)
        self._exact = self._exact and len(known) == len(case.stages)
        if case.each is not None and nodes:
            return self._each(name, case, nodes, join)
        if len(nodes) == 1 and join is None:
            return Go(nodes[0])
        if not nodes or case.mode is None:
            return None
        return Chain(nodes) if case.mode is Mode.CHAIN else Fork(nodes, join)

    def _each(self, name: str, case: Case, nodes: tuple[str, ...], join: str | None) -> Target:
        """Return the node that runs stages for each element of a list; an unreadable list has one."""
        pipeline, each = self._pipeline, case.each
        stage = pipeline.by_id[name]
        is_nested = any(found.at == (case.at if each is None else each.at) for found in find_nested(pipeline))
        self._suspect = self._suspect or is_nested or find_list_mistake(pipeline, stage, case) is not None
        path, most = ((), None) if each is None else (each.path, each.most)
        return ForEach(
            path,
            min(most or 1, MOST),
            nodes,
            join,
            None if each is None or each.concurrency is None else min(each.concurrency, MOST),
            each is not None and each.collects,
        )

    def _is_repaired(self, case: Case) -> bool:
        """Tell whether a case cannot be meant as it is written: it names what is not there, or joins one of its own."""
        if case.mode is not Mode.FORK:  # a join for nothing is left out
            return any(each.name not in self._pipeline.by_id for each in case.stages)
        joins = case.join is not None and case.join.name in {each.name for each in case.stages}
        return joins or any(each.name not in self._pipeline.by_id for each in case.targets)

    def _guess_meant(self, mention: Mention) -> str | None:
        """Return the stage a name means, or the one it was most likely meant to be."""
        if mention.name in self._pipeline.by_id or mention.name in self._pipeline.broken:
            return mention.name if mention.name in self._pipeline.by_id else None
        return self._pipeline.names.nearest(mention.name)


def _can_succeed(pipeline: Pipeline, stage: Stage) -> bool:
    """Tell whether a stage may be left otherwise than as failed; every check is for a failure, at once or at last."""
    conduct = stage.conduct
    failing = any(not check.when for check in conduct.checks)
    if "assert" in conduct.hooks or not (failing or never_accepted(pipeline, stage)):
        return True
    if pipeline.is_only_sibling(stage):  # to be skipped is no success in a fork
        return False
    return can_skip(stage)


def _find_wait(case: Case, target: Target) -> int:
    """Return how long a case waits; nothing where it cannot be meant as it is written."""
    known = case.wait is not None and not isinstance(target, Stop) and find_wait_error(case) is None
    return (case.wait.milliseconds or 0) if case.wait is not None and known else 0


def _terms(case: Case) -> tuple[Term, ...]:
    return tuple(each.term for each in case.when)
