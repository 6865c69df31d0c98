"""What a stage plan means: a schedule of stages, each of which ends as its process does."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from stagec.core.components import components
from stagec.core.place import Place
from stagec.frontends.envelopes.document import DependencyKind, Envelope, InputKind, StagePlan
from stagec.model.flow import Edge, End, Flow, Node, Stop, To
from stagec.model.schedule import Need, PlacedNeeds, Schedule

_NAMES: Mapping[str, str] = {"node": "stage", "outcome": "outcome"}
_ENDS = (("success", Stop(End.DONE)), ("failure", Stop(End.FAILED)), ("interrupted", Stop(End.INTERRUPTED)))
_CYCLE = "waits for itself"
_WRONG = frozenset({DependencyKind.UNKNOWN, DependencyKind.AMBIGUOUS, DependencyKind.OWN})
"""Dependencies that cannot be meant as they are written."""

Needs = Mapping[str, tuple[Need, ...]]


def lower(plan: StagePlan) -> Flow | None:
    """Return the flow of a plan; none of one without any stage, and of an envelope that others are missing for.

    What is needed in a circle is no part of the flow, for nothing can begin there; it is drawn all the same.
    """
    if not plan.by_id or _is_part(plan):
        return None
    names = {name: (*each.needs, *each.implied) if each.implied else each.needs for name, each in plan.by_id.items()}
    needs = PlacedNeeds(names, lambda name: _list_needs(plan.by_id[name]))
    times = {name: each.max_duration for name, each in plan.by_id.items()}
    circles = {} if plan.is_in_order else _find_circles(names)
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
            Edge(each.node, _CYCLE, To((name,)), each.at)
            for name in circles
            for each in needs[name]
            if _is_circular(name, each, circles)
        ),
        schedules={"": Schedule(_drop_circular(needs, circles) if circles else needs, plan.at, times)},
    )


def _is_part(plan: StagePlan) -> bool:
    """Tell whether a plan is one envelope alone that needs other stages."""
    (stage, *_) = plan.envelopes
    reads = (given.kind is InputKind.OUTPUT for given in stage.inputs.values())
    return plan.alone and (bool(stage.dependencies) or any(reads))


def _make_node(name: str, envelope: Envelope) -> Node:
    at = envelope.at
    return Node(name, at, edges=tuple([Edge(name, outcome, end, at) for outcome, end in _ENDS]))


def _list_needs(envelope: Envelope) -> tuple[Need, ...]:
    """Return what a stage waits for, and where that is said."""
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


def _find_circles(needs: Mapping[str, tuple[str, ...]]) -> Mapping[str, int]:
    """Return the stages that wait for themselves by way of others, with the number of their circle."""
    names = list(needs)
    index = {name: at for at, name in enumerate(names)}
    leads = [[index[each] for each in some] for some in needs.values()]
    found = (each for each in components(leads) if len(each) > 1)
    return {names[stage]: number for number, circle in enumerate(found) for stage in circle}


def _is_circular(name: str, need: Need, circles: Mapping[str, int]) -> bool:
    return name in circles and circles.get(need.node) == circles[name]


def _drop_circular(needs: Needs, circles: Mapping[str, int]) -> Needs:
    return {name: tuple(each for each in some if not _is_circular(name, each, circles)) for name, some in needs.items()}
