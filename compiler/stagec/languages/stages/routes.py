"""Read what runs after a stage, and how its work is judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Json, Object, list_of, object_of, text_in, whole_of
from stagec.core.memo import Memo
from stagec.core.place import Mention, Place, list_mentions
from stagec.core.value import replace, value
from stagec.languages.stages.document import (
    Case,
    Check,
    Conduct,
    Elements,
    Incoming,
    IncomingKind,
    Mode,
    Stage,
    StageCondition,
)
from stagec.sources.contract.promise import possible_values, promise
from stagec.sources.contract.schemas import Miss, Schema, Schemas

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
        if case.each is not None:
            yield from _list_ways_of_elements(case, siblings, ends)
            return
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


def _list_ways_of_elements(case: Case, stages: tuple[Mention, ...], ends: _Ends) -> Iterator[tuple[str, Incoming]]:
    """Yield the ways of stages that run for an element one after the other, and of what joins the elements."""
    handed: tuple[tuple[str, ...], ...] = ()
    for each in stages:
        yield each.name, Incoming(IncomingKind.SIBLING, each.at, handed)
        handed = (ends.find(each.name, is_sibling=True),)
    if case.join is not None:
        yield case.join.name, Incoming(IncomingKind.JOIN, case.join.at, handed, case.each)


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
        last = case.stages if case.each is None else case.stages[-1:]
        yield from ((each.name, True) for each in last)


_INDEX = re.compile(r"\[(\d{1,9})\]")
_MEMBERS = ("next", "checks", "gate", "hooks")
_PHASES = ("setup", "gate", "assert", "exit")
_VERDICTS = frozenset({"retry", "fail"})


@value
class Written:
    """A member of a stage's conduct as written, and where."""

    given: Json
    at: Place


def conduct(
    own: Mapping[str, Written], given: Mapping[str, Written], result: Schema | Miss, schemas: Schemas
) -> Conduct:
    """Return the conduct of a stage from what it says itself and what its pipeline says of it; the pipeline wins."""
    written = {**own, **given}
    reading = _Reading(result, schemas)
    following, hooks = written.get("next"), object_of(written["hooks"].given) if "hooks" in written else {}
    cases = None if following is None else tuple(reading.cases(following))
    gate = written.get("gate", Written({}, Place("")))
    return Conduct(
        next_at=None if following is None else following.at,
        cases=cases or (),
        checks=tuple(reading.checks(written.get("checks"))),
        gate={
            name: reading.conditions(each, gate.at / name, judged=False) for name, each in object_of(gate.given).items()
        },
        hooks=frozenset(hooks),
        twice=tuple((name, given[name].at, own[name].at) for name in _MEMBERS if name in own and name in given),
        is_whole=all(case.is_whole for case in cases or ()),
        calls={phase: call for phase in _PHASES if (call := text_in(hooks, phase))},
    )


class _Reading:
    """Reads conditions against the schema of the result they are about."""

    def __init__(self, result: Schema | Miss, schemas: Schemas) -> None:
        self._result = result
        self._schemas = schemas
        self._memo = Memo()

    def cases(self, written: Written) -> Iterator[Case]:
        if isinstance(written.given, list):
            for index, each in enumerate(written.given):
                yield self._case(each, written.at / index)
        elif isinstance(written.given, str):
            yield Case(written.at, (), (Mention(written.given, written.at),))
        else:
            yield self._case(written.given, written.at)

    def checks(self, written: Written | None) -> Iterator[Check]:
        for index, each in enumerate(list_of(written.given)) if written is not None else ():
            body, verdict = object_of(each), object_of(each).get("verdict")
            if written is not None and isinstance(verdict, str) and verdict in _VERDICTS:
                at = written.at / index
                when = self.conditions(body.get("when"), at / "when")
                if len(when) == len(object_of(body.get("when"))) and not _misshapen(body):
                    yield Check(at, when, verdict, text_in(body, "reason"))

    def conditions(self, given: Json, at: Place, *, judged: bool = True) -> tuple[StageCondition, ...]:
        """Return the conditions that all have to hold; `judged` when they are about the stage's result."""
        found = (_condition(path, each, at / path) for path, each in object_of(given).items())
        return tuple(self._add_promise(each) if judged else each for each in found if each is not None)

    def _case(self, given: Json, at: Place) -> Case:
        body = object_of(given)
        when = self.conditions(body.get("when"), at / "when")
        member = "nextStages" if "nextStages" in body and "stages" not in body else "stages"
        named = list_of(body.get(member))
        stages = list_mentions(named, at / member)
        join = body.get("join")
        meant = Mention(join, at / "join") if isinstance(join, str) and join else None
        whole = len(stages) == len(named) and len(when) == len(object_of(body.get("when")))
        mode, ends = (
            _mode(body, stages),
            ([] in (body.get("stages"), body.get("nextStages")) or body.get("terminate") is True or _terminates(body)),
        )
        whole = whole and mode is not None and bool(stages) is not ends and "when" not in _misshapen(body)
        each = _read_elements(body, at)
        is_list = "forEach" not in body or (each is not None and each.most is not None and bool(stages))
        return Case(at, when, stages, mode, meant, whole and is_list, each)

    def _add_promise(self, condition: StageCondition) -> StageCondition:
        if condition.path[0] != "parsed" or isinstance(self._result, Miss):
            return condition
        result, path = self._result, condition.path[1:]
        promised = self._memo.once(path, lambda: promise(self._schemas, result, path, of_object=True))
        possible = self._memo.once((path, "possible"), lambda: possible_values(self._schemas, promised))
        return replace(condition, promised=promised, possible=possible)


def _read_elements(body: Object, at: Place) -> Elements | None:
    """Return what a case says of a list for whose elements it runs stages."""
    path = body.get("forEach")
    if not isinstance(path, str) or not path:
        return None
    most, concurrency = (whole_of(body.get(name)) for name in ("most", "concurrency"))
    return Elements(
        split_path(path),
        at / "forEach",
        most if most is not None and most > 0 else None,
        concurrency if concurrency is not None and concurrency > 0 else None,
        body.get("onFailure") == "collect",
    )


def split_path(path: str) -> tuple[str, ...]:
    """Return the names of a path: `parsed.files[0].name` has four."""
    return tuple(_INDEX.sub(r".\1", path).split("."))


def _misshapen(body: Object) -> frozenset[str]:
    return frozenset(("when",)) if not isinstance(body.get("when", {}), dict) else frozenset()


def _terminates(body: Object) -> bool:
    return body.get("execution") == "terminate"


def _mode(body: Object, stages: tuple[Mention, ...]) -> Mode | None:
    """Return how several stages run; a single sequential one is the usual case."""
    execution = body.get("execution", "sequential")
    if execution == "parallel" or "forEach" in body:
        return Mode.FORK
    if execution != "sequential" and not _terminates(body):
        return None
    return Mode.CHAIN if len(stages) > 1 else Mode.ONE


def _condition(path: str, given: Json, at: Place) -> StageCondition | None:
    names = split_path(path)
    if isinstance(given, dict):
        present = given.get("present")
        return StageCondition(names, at, present=present) if isinstance(present, bool) else None
    values = tuple(given) if isinstance(given, list) else (given,)
    whole = bool(values) and not any(isinstance(each, dict | list) for each in values)
    return StageCondition(names, at, values) if whole else None
