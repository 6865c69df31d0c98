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
    # the stages that do not only run as siblings: of the others no case is followed but the recovery
    forked = {each.name for one in stages.values() for case in one.conduct.cases for each in _siblings(case)}
    known = {} if entry is None else {entry.name: None}
    known |= dict.fromkeys(called for called in stages if called not in forked)
    for one in stages.values():
        known |= dict.fromkeys(_alone(case for case in one.conduct.cases if case.is_recovery))
    order = list(known)
    for called in order:  # grows while it is read
        fresh = [each for each in _alone(stages[called].conduct.cases) if each not in known] if called in stages else []
        known |= dict.fromkeys(fresh)
        order.extend(dict.fromkeys(fresh))
    free, ends = frozenset(known), _Ends(stages)
    for name, stage in stages.items():
        for case in stage.conduct.cases:
            for target, way in _list_ways(name, case, ends) if case.is_recovery or name in free else ():
                found.setdefault(target, []).append(way)
    return {name: tuple(ways) for name, ways in found.items()}


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


def _list_ways(name: str, case: Case, ends: _Ends) -> Iterator[tuple[str, Incoming]]:
    if case.mode is Mode.FORK:
        siblings = _siblings(case)
        for each in siblings:
            yield each.name, Incoming(IncomingKind.SIBLING, each.at)
        if case.join is not None and case.stages:
            handed = tuple(ends.find(each.name, is_sibling=True) for each in siblings)
            yield case.join.name, Incoming(IncomingKind.JOIN, case.join.at, handed)
        return
    first, *chained = case.stages if case.mode is not None and case.stages else (None,)
    if first is not None:
        yield first.name, Incoming(IncomingKind.SUCCESSOR, first.at, ((name,),))
    for before, each in zip(case.stages, chained, strict=False):
        yield each.name, Incoming(IncomingKind.CHAINED, each.at, (ends.find(before.name, is_sibling=False),))


class _Ends:
    """Finds the stages whose result may be the last of a branch, by the stage with which the branch begins."""

    def __init__(self, stages: Mapping[str, Stage]) -> None:
        self._stages = stages
        self._known: dict[_Start, tuple[str, ...]] = {}
        self._patience = _PATIENCE

    def find(self, name: str, *, is_sibling: bool) -> tuple[str, ...]:
        """Return the stages at which a branch may end; none where that cannot be told."""
        start = (name, is_sibling)
        if start not in self._known:
            self._known[start] = self._follow(start)
        return self._known[start]

    def _follow(self, start: _Start) -> tuple[str, ...]:
        found, order = dict[str, None](), [start]
        seen = {start}
        for name, is_sibling in order:  # grows while it is read
            stage = self._stages.get(name)
            cases = stage.conduct.cases if stage is not None else ()
            self._patience -= 1 + len(cases)
            if stage is None or self._patience < 0:
                return ()
            stays = not any(case.is_for_success for case in cases) or any(not case.stages for case in cases)
            if is_sibling or stays:
                found[name] = None
            followed = [case for case in cases if case.stages and (case.is_recovery or not is_sibling)]
            if any(case.mode is None for case in followed):
                return ()
            fresh = dict.fromkeys(each for case in followed for each in _list_last(case) if each not in seen)
            seen.update(fresh)
            order.extend(fresh)
        return tuple(found)


_Start = tuple[str, bool]
"""A stage, and whether it is a sibling, of which no case is followed but the recovery."""
_PATIENCE = 200_000
"""Cases that are followed to the ends of branches in one pipeline: more than anybody needs."""


def _list_last(case: Case) -> Iterator[_Start]:
    """Yield the stages with which the last branches of what a case starts begin."""
    if case.mode is not Mode.FORK:
        yield case.stages[-1].name, False
    elif case.join is not None:
        yield case.join.name, False
    else:
        yield from ((each.name, True) for each in case.stages)
