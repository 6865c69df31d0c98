"""Read trees as orchestrator files: keep valid members, leave out the others, judge nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from stagec.core.canonical import to_count
from stagec.core.json import Json, Object, list_of, object_of, objects_in, text_in
from stagec.core.memo import Memo
from stagec.core.place import Mention, Place
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.languages.orchestrator.document import (
    AGENTS,
    DIRECT,
    MAX_CYCLES,
    NO_MENTIONS,
    OFF,
    SECTIONS,
    SUCCESS,
    ArtifactHandoff,
    Closing,
    Performer,
    PerformerRole,
    Phase,
    PhaseType,
    Release,
    Workflow,
    find_artifacts,
    find_project,
)
from stagec.sources.read import Sources, join
from stagec.sources.shape import judge, judge_numbers
from stagec.sources.tree import Tree

_SCHEMA = "workflow"
_DEFINITION = "agent.json"
_OWN_NAME = "workflow.json"
_OLD = frozenset({"closeOnComplete", "closeCondition"})
_TYPES = {each.value: each for each in PhaseType}
_ROLES = {each.value: each for each in PerformerRole}
_STARTS = ("planPhase", "evalPhase")


def read(sources: Sources, files: tuple[str, ...]) -> tuple[Workflow, ...]:
    """Return the orchestrator files among some files; others, which only have such a name, are forgotten."""
    found: list[Workflow] = []
    for file in files:
        tree = sources.tree(file, "workflow")
        if tree is None or not tree.readable:
            continue
        root = object_of(tree.value)
        if posixpath.basename(file) != _OWN_NAME and root.keys().isdisjoint(SECTIONS):
            sources.forget(file)
            continue
        tree = judge_numbers(judge(tree, _SCHEMA), _SCHEMA)
        sources.replace(tree)
        if isinstance(tree.value, dict):
            found.append(_read_workflow(sources, tree, root))
    return tuple(found)


def _read_workflow(sources: Sources, tree: Tree, root: Object) -> Workflow:
    at, release = tree.at, _find_release(root)
    phases = {name: _read_phase(name, body, at) for name, body in objects_in(root, "phases")}
    handoffs = tuple(_list_handoffs(root, at))
    agents = (_read_performer(name, body, at) for name, body in objects_in(root, "agents"))
    return Workflow(
        id=posixpath.basename(tree.file).removesuffix(".json"),
        at=at,
        body=root,
        release=release[0],
        is_dated=release[1],
        phases=phases,
        broken=frozenset(object_of(root.get("phases")).keys() - phases.keys()),
        labels=_read_mentions(root, "labelMapping", at),
        starts=dict(_list_texts(object_of(root.get("projectBinding")), at / "projectBinding", _STARTS)),
        agents={each.id: _find_definition(sources, each) for each in agents},
        max_cycles=_read_max_cycles(root),
        memo=Memo(),
        artifacts=find_artifacts(sources, at.file, root, [each.schema for each in handoffs if each.schema is not None]),
        has_agents=bool(sources.below(posixpath.join(find_project(at.file), AGENTS), _DEFINITION)),
        handoffs=handoffs,
        faults=tree.faults,
        prefix=text_in(root, "labelPrefix") or "",
    )


def _find_release(root: Object) -> tuple[Release, bool]:
    """Return the release that a file is written for, and whether one of its members says so."""
    agents = [body for _, body in objects_in(root, "agents")]
    if "issueSource" in root or any("closeBinding" in body for body in agents):
        return Release.NEW, True
    return Release.OLD, "issueStore" in root or any(not _OLD.isdisjoint(body) for body in agents)


def _read_phase(name: str, body: Object, root: Place) -> Phase:
    priority = body.get("priority")
    is_number = isinstance(priority, int | float) and not isinstance(priority, bool)
    return Phase(
        id=name,
        at=root / "phases" / name,
        type=_TYPES.get(text_in(body, "type") or ""),
        agent=text_in(body, "agent"),
        priority=priority if is_number and isinstance(priority, int | float) else None,
        body=body,
    )


def _read_performer(name: str, body: Object, root: Place) -> Performer:
    at, role = root / "agents" / name, _ROLES.get(text_in(body, "role") or "")
    is_transformer, outputs = role is PerformerRole.TRANSFORMER, NO_MENTIONS
    named = _find_mention(body, at, "outputPhase")
    if is_transformer and named is not None:
        outputs = {SUCCESS: named}
    elif role is PerformerRole.VALIDATOR:
        outputs = _read_mentions(body, "outputPhases", at)
    return Performer(
        id=name,
        at=at,
        role=role,
        directory=text_in(body, "directory") or name,
        outputs=outputs,
        exceptions=_read_mentions(body, "fallbackPhases", at) if is_transformer else NO_MENTIONS,
        fallback=_find_mention(body, at, "fallbackPhase"),
        is_whole=isinstance(body.get("fallbackPhase", ""), str) and _are_readable(body, role),
        close=_read_closing(body, at),
        body=body,
    )


def _are_readable(body: Object, role: PerformerRole | None) -> bool:
    """Tell whether every phase is a text that the outcomes of a role lead to."""
    if role is PerformerRole.TRANSFORMER:
        return isinstance(body.get("outputPhase"), str) and _is_table(body.get("fallbackPhases", {}))
    return role is PerformerRole.VALIDATOR and _is_table(body.get("outputPhases"))


def _is_table(given: Json) -> bool:
    return isinstance(given, dict) and all(isinstance(each, str) for each in given.values())


def _find_definition(sources: Sources, agent: Performer) -> Performer:
    """Return an agent with the file that defines it, if that is there."""
    file = join(posixpath.join(find_project(agent.at.file), AGENTS, agent.directory), _DEFINITION)
    tree = sources.tree(file, "agent") if file is not None and sources.exists(file) else None
    if tree is None:
        return agent
    return replace(agent, definition=tree.at, called=text_in(object_of(tree.value), "name"))


def _read_closing(body: Object, at: Place) -> Closing | None:
    """Return when an agent's issue is closed, as climpt 1.14 writes it or else as climpt 1.13 does."""
    given = body.get("closeBinding")
    if isinstance(given, dict):
        at = at / "closeBinding"
        kind = text_in(object_of(given.get("primary")), "kind")
        return Closing(at, kind, _find_mention(given, at, "condition"))
    if "closeOnComplete" in body or "closeCondition" in body:
        channel = DIRECT if body.get("closeOnComplete") is True else OFF
        return Closing(at / "closeOnComplete", channel, _find_mention(body, at, "closeCondition"))
    return None


def _find_mention(owner: Object, at: Place, member: str) -> Mention | None:
    return next((each for _, each in _list_texts(owner, at, (member,))), None)


def _list_handoffs(root: Object, at: Place) -> Iterator[ArtifactHandoff]:
    for index, body in enumerate(list_of(root.get("handoffs"))):
        if not isinstance(body, dict):
            continue
        when, emit, payload = (object_of(body.get(each)) for each in ("when", "emit", "payloadFrom"))
        name = text_in(body, "id")
        yield ArtifactHandoff(
            id=name,
            name=f"hand-off {quote(name)}" if name is not None else f"hand-off {index + 1}",
            at=at / "handoffs" / index,
            agent=text_in(when, "fromAgent"),
            outcome=text_in(when, "outcome"),
            schema=text_in(emit, "schemaRef"),
            path=text_in(emit, "path"),
            payload={key: each for key, each in payload.items() if isinstance(each, str)},
            body=body,
        )


def _read_mentions(owner: Object, member: str, at: Place) -> Mapping[str, Mention]:
    given = object_of(owner.get(member))
    return dict(_list_texts(given, at / member, tuple(given)))


def _list_texts(owner: Object, at: Place, members: tuple[str, ...]) -> Iterator[tuple[str, Mention]]:
    for name in members:
        given = text_in(owner, name)
        if given is not None:
            yield name, Mention(given, at / name)


def _read_max_cycles(root: Object) -> int | None:
    """Return how many transitions an issue may make; climpt compares the count, so a fraction is rounded up."""
    return to_count(object_of(root.get("rules")).get("maxCycles", MAX_CYCLES))
