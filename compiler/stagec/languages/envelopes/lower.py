"""Lower a stage plan to a schedule of stages; each ends as its process does."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from posixpath import normpath

from stagec.core.canonical import MOST
from stagec.core.place import Place
from stagec.core.precedence import components
from stagec.ir.catalogue.document import LabelBook, is_agent
from stagec.ir.catalogue.read import find_nearby
from stagec.ir.flow import Flow, FlowNode, NameKind, Need, Occurrence, WrittenEdge, WrittenSchedule
from stagec.ir.plan.act import Process, ProcessInput, ProcessLimits
from stagec.ir.plan.document import Draft, Limits, Names, Plan
from stagec.ir.plan.gate import Backoff, Retry, StageGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Schedule, Stop
from stagec.ir.protocol.lifecycle import watch_times
from stagec.ir.rights import Label, Labelled, Right, Rights, Teller
from stagec.languages.envelopes.document import DependencyKind, Envelope, InputKind, StagePlan
from stagec.sources.read import Sources


def list_names(document: StagePlan) -> Iterator[Occurrence]:
    """Yield every place at which a stage is defined or mentioned; an input mentions the stage that makes it."""
    for each in document.envelopes:
        if each.id is not None:
            yield Occurrence(NameKind.ENVELOPE, each.id, document.file, each.id_at, each.at)
        meant = {odd.at: odd.meant[0] for odd in each.oddities if odd.kind is DependencyKind.SHORT and odd.meant}
        for mention in each.list_mentions():
            yield Occurrence(NameKind.ENVELOPE, meant.get(mention.at, mention.name), document.file, mention.at)
        for name, given in each.inputs.items():
            if given.producer is not None and not given.bare:
                yield Occurrence(NameKind.ENVELOPE, given.producer, document.file, each.place_input(name))


_ATTEMPTS = 3
"""How often a stage is begun that may be retried: the third failure stands."""


def freeze(document: StagePlan, flow: Flow, _sources: Sources) -> Draft:
    """Return the draft of the plan of stages without errors."""
    plan = Plan(
        id=flow.id,
        names=Names(flow.names["node"], flow.names["outcome"]),
        entries=flow.schedules,
        entry=next(iter(flow.schedules), None),
        nodes={name: _freeze_stage(each) for name, each in document.by_id.items()},
        limits=Limits(parallel=min(document.max_parallel, MOST)),
        contents={},
    )
    return Draft(plan, frozenset(each.at.file for each in document.envelopes))


def _freeze_stage(envelope: Envelope) -> Node:
    times = watch_times(envelope.max_duration)
    limit = ProcessLimits(times.warn, times.interrupt, times.terminate, times.kill)
    inputs = {
        key: ProcessInput(url=each.path)
        if each.kind is InputKind.URL
        else ProcessInput(path=normpath(each.path), node=each.producer)
        for key, each in envelope.inputs.items()
    }
    return Node(
        act=Process(
            goal=envelope.goal or "",
            limits=limit,
            words=envelope.run,
            inputs=inputs,
            outputs={key: normpath(path) for key, path in envelope.outputs.items()},
            retryable=envelope.retryable,
            checkpoint=envelope.checkpoint_after,
        ),
        gate=StageGate(),
        edges=_ENDS,
        retry=Retry(_ATTEMPTS, Backoff()) if envelope.retryable else None,
    )


_STRANGE = Labelled(frozenset({Label.UNTRUSTED}), Teller.LIST)


def read_rights(plan: StagePlan, sources: Sources) -> Mapping[str, Rights]:
    """Return the rights of each stage."""
    book = LabelBook(find_nearby(sources, plan.file))
    found: dict[str, Rights] = {}
    for name, each in plan.by_id.items():
        program = (
            [Right(each.run[0], each.at / "run", book.find_program(each.run), is_program=True)] if each.run else []
        )
        fetched = [given for given in each.inputs.values() if given.kind is InputKind.URL]
        inputs = [Right(given.text, each.at / "inputs" / given.name, _STRANGE, is_program=True) for given in fetched]
        is_fixed = bool(each.run) and not is_agent(each.run)
        found[name] = Rights((*program, *inputs), is_fixed=is_fixed)
    return found


_NAMES: Mapping[str, str] = {"node": "stage", "outcome": "outcome"}
_ENDS = (
    Edge("success", Stop(Outcome.DONE)),
    Edge("failure", Stop(Outcome.FAILED)),
    Edge("interrupted", Stop(Outcome.INTERRUPTED)),
)
_CYCLE = "waits for itself"
_WRONG = frozenset({DependencyKind.UNKNOWN, DependencyKind.AMBIGUOUS, DependencyKind.OWN})
"""Dependencies that cannot be meant as they are written."""


Needs = Mapping[str, tuple[str, ...]]


def lower(plan: StagePlan) -> Flow | None:
    """Return the flow of a plan; none of one without any stage, and of an envelope that others are missing for.

    What is needed in a circle is no part of the flow, for nothing can begin there; it is drawn all the same.
    """
    if not plan.by_id or _is_part(plan):
        return None
    needs = {name: (*each.needs, *each.implied) if each.implied else each.needs for name, each in plan.by_id.items()}
    times = {name: each.max_duration for name, each in plan.by_id.items()}
    circles = {} if plan.is_in_order else _find_circles(needs)

    def place_needs(name: str) -> tuple[Need, ...]:
        return tuple(each for each in _list_needs(plan.by_id[name]) if not _is_circular(name, each.node, circles))

    # the title of the report, else what the file or the folder of the envelopes is called
    folder, file = posixpath.split(plan.file)
    is_folder = not plan.alone and plan.envelopes[0].at.pointer == ()
    return Flow(
        id=plan.title or (posixpath.basename(folder) if is_folder else "") or posixpath.splitext(file)[0],
        at=plan.at,
        entries={},
        nodes={name: _make_node(name, each) for name, each in plan.by_id.items()},
        exact=plan.is_whole,
        suspect=any(odd.kind in _WRONG for each in plan.envelopes for odd in each.oddities),
        names=_NAMES,
        lost=tuple(
            WrittenEdge(each.node, Edge(_CYCLE, Go(name)), each.at)
            for name in circles
            for each in _list_needs(plan.by_id[name])
            if _is_circular(name, each.node, circles)
        ),
        schedules={"": Schedule(_drop_circular(needs, circles) if circles else needs)},
        written={"": WrittenSchedule(plan.at, place_needs, times)},
    )


def _is_part(plan: StagePlan) -> bool:
    """Tell whether a plan is one envelope alone that needs other stages."""
    (stage, *_) = plan.envelopes
    reads = (given.kind is InputKind.OUTPUT for given in stage.inputs.values())
    return plan.alone and (bool(stage.dependencies) or any(reads))


def _make_node(name: str, envelope: Envelope) -> FlowNode:
    at = envelope.at
    return FlowNode(name, at, edges=tuple([WrittenEdge(name, each, at) for each in _ENDS]))


def _list_needs(envelope: Envelope) -> tuple[Need, ...]:
    """Return the dependencies of a stage with their places."""
    if not envelope.oddities and len(envelope.needs) == len(envelope.dependencies):
        # what the dependencies mean that are all ids, in their order
        written, needs = envelope.members.get("dependencies"), envelope.needs
        if not isinstance(written, list) or len(written) > len(needs):
            declared = [Need(each.name, each.at) for each in envelope.list_mentions()]
        else:
            file, way = envelope.at.file, (*envelope.at.pointer, "dependencies")
            declared = [Need(name, Place(file, (*way, index))) for index, name in enumerate(needs)]
    else:
        places = {meant: odd.at for odd in envelope.oddities for meant in odd.meant}
        places |= {each.name: each.at for each in envelope.list_mentions()}
        declared = [Need(name, places[name]) for name in envelope.needs]
    if not envelope.implied:
        return tuple(declared)
    inferred = {
        each.producer: envelope.place_input(name) for name, each in envelope.inputs.odd.items() if each.inferred
    }
    return *declared, *(Need(name, inferred[name], inferred=True) for name in envelope.implied)


def _find_circles(needs: Needs) -> Mapping[str, int]:
    """Return the stages that wait for themselves by way of others, with the number of their circle."""
    names = list(needs)
    index = {name: at for at, name in enumerate(names)}
    leads = [[index[each] for each in some] for some in needs.values()]
    found = (each for each in components(leads) if len(each) > 1)
    return {names[stage]: number for number, circle in enumerate(found) for stage in circle}


def _is_circular(name: str, need: str, circles: Mapping[str, int]) -> bool:
    return name in circles and circles.get(need) == circles[name]


def _drop_circular(needs: Needs, circles: Mapping[str, int]) -> Needs:
    return {name: tuple(each for each in some if not _is_circular(name, each, circles)) for name, some in needs.items()}
