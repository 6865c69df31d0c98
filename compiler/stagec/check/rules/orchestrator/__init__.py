"""STG21xx: orchestrator files: phases, labels, outcomes of agents, hand-offs, and what agents can answer."""

from collections.abc import Iterator

from stagec.core.json import list_of, object_of
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Mention, Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.ir.flow import FlowNode
from stagec.ir.graph import Graph, build
from stagec.ir.plan.node import list_targets
from stagec.languages.orchestrator.document import Phase, Release, Workflow
from stagec.sources.tree import Fault

FAMILY = Family(__name__, (range(2100, 2200),), Workflow)
rule = FAMILY.rule

_OWNERS = {"phases": "phase", "agents": "agent", "labels": "label"}
_SHOWN = 8


def name_member(workflow: Workflow, at: Place) -> str:
    """Return the name of the member at a place for people: `phase 'done'`, `'type' of phase 'done'`."""
    section, *rest = at.pointer or ("",)
    if section in _OWNERS and rest:
        owner, *inner = rest
        called = f"{_OWNERS[str(section)]} {quote(owner)}"
    elif section == "handoffs" and rest:
        index, *inner = rest
        called = next((each.name for each in workflow.handoffs if each.at.pointer[-1] == index), f"hand-off {index}")
    else:
        return quote(".".join(map(str, at.pointer))) if at.pointer else "the file"
    return f"{quote('.'.join(map(str, inner)))} of {called}" if inner else called


def report_shape(workflow: Workflow, topic: str) -> Iterator[Finding]:
    """Say of every fault of shape of one topic what was expected and what was found."""
    for fault in workflow.list_faults(topic):
        related = tuple(Related(at, "written here") for at, _ in fault.related)
        yield Finding(fault.at, _describe(workflow, fault), related, _guess(fault))


def _describe(workflow: Workflow, fault: Fault) -> str:
    facts = fault.facts
    if fault.reason == "required":
        owner = name_member(workflow, Place(fault.at.file, fault.at.pointer[:-1]))
        misspelt = _names(facts["misspelt"])
        doubt = f"; is it {listing(misspelt, 'or')}, misspelt?" if misspelt else ""
        return f"{owner} lacks {listing(_names(facts['missing']))}{doubt}"
    subject = name_member(workflow, fault.at)
    if fault.reason in {"minLength", "minItems", "minProperties"}:
        return f"{subject} is empty"
    got, kind = facts.get("got"), with_article(str(facts.get("kind")))
    found = quote(got) if isinstance(got, str) else kind if got is None else str(got).lower()
    if fault.reason == "type":
        wanted = " or ".join(map(with_article, _names(facts["allowed"])))
        return f"{subject} must be {wanted}, found {kind}"
    if fault.reason == "enum":
        allowed = _names(facts["allowed"])
        return f"{subject} must be {listing(allowed, 'or')}, found {found}{hint(str(got), NameIndex(allowed))}"
    if fault.reason == "minimum":
        return f"{subject} must be at least {facts['allowed']}, found {found}"
    return f"{subject} must be {facts.get('expects', 'of another shape')}, found {found}"


def _guess(fault: Fault) -> Guess | None:
    got = fault.facts.get("got")
    is_name = fault.reason == "enum" and isinstance(got, str)
    return guess(str(got), NameIndex(_names(fault.facts["allowed"]))) if is_name else None


def _names(given: object) -> tuple[str, ...]:
    return tuple(map(str, given)) if isinstance(given, tuple) else ()


def report_unknown(mentions: Iterator[tuple[str, Mention]], names: NameIndex, what: str) -> Iterator[Finding]:
    """Yield one finding for every name that does not exist, however often it is mentioned; each comes with its user."""
    lost: dict[str, list[tuple[str, Mention]]] = {}
    for user, mention in mentions:
        lost.setdefault(mention.name, []).append((user, mention))
    for name, ((user, first), *others) in lost.items():
        related = tuple(Related(other.at, "mentioned here too") for _, other in others[:_SHOWN])
        more = f" (and {len(others) - _SHOWN} more mentions)" if len(others) > _SHOWN else ""
        message = f"{user} names {what} {quote(name)}, which does not exist{hint(name, names)}{more}"
        yield Finding(first.at, message, related, guess(name, names, *(other.at for _, other in others)))


def list_used_labels(workflow: Workflow) -> Iterator[tuple[str, Place]]:
    """Yield every label that stands for a phase or that the prioritizer gives, with its place."""
    for name in object_of(workflow.body.get("labelMapping")):
        yield name, (workflow.at / "labelMapping" / name).key
    given = list_of(object_of(workflow.body.get("prioritizer")).get("labels"))
    for index, each in enumerate(given):
        if isinstance(each, str):
            yield each, workflow.at / "prioritizer" / "labels" / index


def draw_graph(workflow: Workflow) -> Graph:
    """Return the graph of an orchestrator file, made once."""
    from stagec.languages.orchestrator.lower import lower  # most projects have no orchestrator file

    return workflow.memo.once("graph", lambda: build(lower(workflow)))


def find_limbo(workflow: Workflow) -> Iterator[tuple[Phase, Mention, tuple[Related, ...]]]:
    """Yield the phases without a label to which outcomes of working agents lead, and where the outcomes say so."""
    labelled = {mention.name for mention in workflow.labels.values()}
    if workflow.release is Release.NEW:  # of phases that a project begins or ends with another rule speaks
        labelled.update(
            each for each in object_of(workflow.body.get("projectBinding")).values() if isinstance(each, str)
        )
    found: dict[str, list[Mention]] = {}
    agents = {each.agent for each in workflow.phases.values() if each.is_actionable}
    for agent in workflow.agents.values() if workflow.has_all_labels else ():
        for way in agent.list_named() if agent.id in agents else ():
            if way.phase.name in workflow.phases and way.phase.name not in labelled:
                found.setdefault(way.phase.name, []).append(way.phase)
    for name, (first, *others) in found.items():
        yield workflow.phases[name], first, tuple(Related(each.at, "leads here too") for each in others[:_SHOWN])


_PATIENCE = 20_000
"""Phases looked at in search of a long way; whoever has more ways than that is told nothing."""


def find_longest(workflow: Workflow, most: int) -> tuple[str, ...]:
    """Return a way from a label on which no phase comes twice and that has more transitions than these, if any has."""
    flow = draw_graph(workflow).flow
    if len(flow.nodes) - 1 <= most:
        return ()
    ahead = {name: dict.fromkeys(_list_ahead(node)) for name, node in flow.nodes.items()}
    todo: list[tuple[str, ...]] = [(entry.node,) for entry in flow.begun]
    for _ in range(_PATIENCE):
        if not todo:
            break
        way = todo.pop()
        if len(way) - 1 > most:
            return way
        todo.extend((*way, name) for name in ahead[way[-1]] if name not in way)
    return ()


def _list_ahead(node: FlowNode) -> Iterator[str]:
    for edge in node.edges:
        yield from list_targets(edge.target)
