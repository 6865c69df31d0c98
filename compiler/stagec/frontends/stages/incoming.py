"""Work out how stages are come to, and whose results each is handed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.place import Mention
from stagec.frontends.stages.document import Case, Incoming, IncomingKind, Stage
from stagec.model.flow import Mode

IncomingWays = Mapping[str, tuple[Incoming, ...]]


def incoming(entry: Mention | None, stages: Mapping[str, Stage]) -> IncomingWays:
    """Return every way each stage is come to, by stage id, in the order in which they are written."""
    found: dict[str, list[Incoming]] = {}
    if entry is not None:
        found.setdefault(entry.name, []).append(Incoming(IncomingKind.ENTRY, entry.at))
    free = _free(entry, stages)
    for name, stage in stages.items():
        for case in stage.conduct.cases:
            for target, way in _list_ways(name, case, stages) if case.is_recovery or name in free else ():
                found.setdefault(target, []).append(way)
    return {name: tuple(ways) for name, ways in found.items()}


def _free(entry: Mention | None, stages: Mapping[str, Stage]) -> frozenset[str]:
    """Return the stages that do not only run as siblings: of the others no case is followed but the recovery."""
    forked = {each.name for stage in stages.values() for case in stage.conduct.cases for each in _siblings(case)}
    found = {} if entry is None else {entry.name: None}
    found |= dict.fromkeys(name for name in stages if name not in forked)
    for stage in stages.values():
        found |= dict.fromkeys(_alone(case for case in stage.conduct.cases if case.is_recovery))
    order = list(found)
    for name in order:  # grows while it is read
        fresh = [each for each in _alone(stages[name].conduct.cases) if each not in found] if name in stages else []
        found |= dict.fromkeys(fresh)
        order.extend(dict.fromkeys(fresh))
    return frozenset(found)


def _siblings(case: Case) -> tuple[Mention, ...]:
    """Return the stages that run together: a join that stands among them cannot be meant to be one of them."""
    if case.mode is not Mode.FORK:
        return ()
    return tuple(each for each in case.stages if case.join is None or each.name != case.join.name)


def _alone(cases: Iterable[Case]) -> Iterator[str]:
    """Yield the stages that cases lead to otherwise than as siblings."""
    for case in cases:
        if case.mode is not Mode.FORK:
            yield from (each.name for each in case.stages)
        elif case.join is not None and case.stages:
            yield case.join.name


def _list_ways(name: str, case: Case, stages: Mapping[str, Stage]) -> Iterator[tuple[str, Incoming]]:
    if case.mode is Mode.FORK:
        siblings = _siblings(case)
        for each in siblings:
            yield each.name, Incoming(IncomingKind.SIBLING, each.at)
        if case.join is not None and case.stages:
            handed = tuple(_list_stand_ins(each.name, stages) for each in siblings)
            yield case.join.name, Incoming(IncomingKind.JOIN, case.join.at, handed)
        return
    for index, each in enumerate(case.stages if case.mode is not None else ()):
        yield each.name, Incoming(IncomingKind.SUCCESSOR, each.at, ((name,) if index == 0 else (),))


def _list_stand_ins(sibling: str, stages: Mapping[str, Stage]) -> tuple[str, ...]:
    """Return the stages whose result may stand for a sibling: itself, and where a branch of recovery may end."""
    stage = stages.get(sibling)
    if stage is None:
        return ()
    found, order = {sibling: None}, list[str | None]()
    for case in stage.conduct.cases:
        order += [_find_last(case)] if case.is_recovery and case.stages else []
    for name in order:  # grows while it is read
        branch = stages.get(name) if name is not None else None
        if branch is None:
            return ()
        if name is not None and _may_end(branch):
            found[name] = None
        ahead = dict.fromkeys(_find_last(case) for case in branch.conduct.cases if case.stages)
        order.extend(each for each in ahead if each not in order)
    return tuple(found)


def _find_last(case: Case) -> str | None:
    """Return the stage whose end is the end of what a case starts, or nothing where that cannot be told."""
    if case.mode is None:
        return None
    if case.mode is Mode.FORK:
        return None if case.join is None else case.join.name
    return case.stages[-1].name


def _may_end(stage: Stage) -> bool:
    cases = stage.conduct.cases
    return not any(case.stages and not case.is_recovery for case in cases) or any(not case.stages for case in cases)
