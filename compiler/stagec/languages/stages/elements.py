"""Cases that run stages for each element of a list: the list, its length, and the type of an element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import takewhile

from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.stages.document import ELEMENT, Case, Mode, Pipeline, Stage
from stagec.languages.stages.inner import DEEPEST, find_inner_mistake
from stagec.languages.stages.outcomes import VERDICT, Fitting, can_skip, outcomes, take
from stagec.sources.contract.combinations import Combination
from stagec.sources.contract.conflict import list_possible
from stagec.sources.contract.member import member
from stagec.sources.contract.promise import Presence, Promise, promise, promise_of
from stagec.sources.contract.reach import bodies_of, list_values, numbers
from stagec.sources.contract.schemas import Schema


class ListError(StrEnum):
    """Why the elements of a list cannot be run."""

    ROOT = "root"
    """The path begins with neither `parsed` nor `ctx`."""
    NAME = "name"
    """The context declares no such name."""
    PATH = "path"
    """Nothing can be at the path."""
    ABSENT = "absent"
    """There may be nothing at the path."""
    NOTHING = "nothing"
    """The case is for results with which nothing may be handed in."""
    TYPE = "type"
    """There may be something else than a list."""
    UNBOUNDED = "unbounded"
    """The list may have any number of elements."""
    LONG = "long"
    """The list may have more elements than may run."""
    SHORT = "short"
    """The list always has more elements than may run."""
    EMPTY = "empty"
    """The list never has an element."""
    INVOLVED = "involved"
    """The schema says something too involved."""


@value
class ListMistake:
    """Why a case cannot run its elements; `schema` is the one of the list, `bound` the length that it says."""

    stage: Stage
    case: Case
    error: ListError
    promised: Promise | None = None
    schema: Schema | None = None
    bound: int | None = None


def list_each(pipeline: Pipeline) -> Iterator[tuple[Stage, Case]]:
    """Yield every case that runs stages for the elements of a list, with its stage."""
    for stage in pipeline.by_id.values() if pipeline.is_declared else ():
        yield from ((stage, case) for case in stage.conduct.cases if case.each is not None)


def runs_elements(pipeline: Pipeline) -> bool:
    """Tell whether any stage runs for elements: then `ctx.item` and `ctx.index` are no names that a run is given."""
    return pipeline.memo.once("runs-elements", lambda: any(True for _ in list_each(pipeline)))


def find_list_mistake(pipeline: Pipeline, stage: Stage, case: Case) -> ListMistake | None:
    """Return why a case cannot run its elements; None if it can, or where something unreadable keeps it open."""
    each = case.each
    if each is None or case not in pipeline.live_cases(stage):
        return None
    found = _find_error(pipeline, stage, case)
    if found is None or isinstance(found, ListError):
        return None if found is None else ListMistake(stage, case, found)
    if not found.legible:
        return None
    if found.presence is Presence.IMPOSSIBLE:
        return ListMistake(stage, case, ListError.PATH, found)
    if found.presence is not Presence.SURE and not _is_asked_for(case) and not _is_ensured(pipeline, stage, case):
        error = ListError.INVOLVED if found.presence is Presence.UNKNOWABLE else ListError.ABSENT
        return ListMistake(stage, case, error, found)
    return _judge_length(pipeline, stage, case, found) if found.ends else ListMistake(stage, case, ListError.INVOLVED)


def _find_error(pipeline: Pipeline, stage: Stage, case: Case) -> Promise | ListError | None:
    """Return the promise for the path of a list, or the error; None if its schema cannot be read."""
    root, *inside = case.each.path if case.each is not None else ("",)
    if root == "ctx" and inside:
        declared = (pipeline.context or {}).get(inside[0])
        if declared is None:
            return ListError.NAME
        return promise(pipeline.schemas, declared, inside[1:]) if inside[1:] else _promise_whole(declared)
    if root != "parsed" or not inside:
        return ListError.ROOT
    if not isinstance(stage.result, Schema):
        return None
    if not _hands_in(stage, case):
        return ListError.NOTHING
    return promise(pipeline.schemas, stage.result, inside, of_object=True)


def _promise_whole(declared: Schema) -> Promise:
    return Promise(Presence.SURE, ((declared,),))


def _hands_in(stage: Stage, case: Case) -> bool:
    """Tell whether something is handed in with every result that a case is for."""
    asked = next((each for each in case.when if each.path == VERDICT), None)
    accepted = not can_skip(stage) if asked is None else asked.values == ("ok",)
    return (accepted and "assert" not in stage.conduct.hooks) or any(
        each.path[0] == "parsed" and each.present is not False for each in case.when
    )


def _is_asked_for(case: Case) -> bool:
    """Tell whether the case is only for results that have something at the path of its list."""
    return any(case.each is not None and each.path == case.each.path and each.present for each in case.when)


def _is_ensured(pipeline: Pipeline, stage: Stage, case: Case) -> bool:
    """Tell whether every result that a case takes has something at the path of its list, as its conditions show."""
    if case.each is None or case.each.path[0] != "parsed" or not case.when:
        return False
    path = case.each.path
    found = pipeline.schemas.keep_beside(
        stage.known, ("outcomes", path), lambda: outcomes(pipeline.schemas, stage, path)
    )
    if found is None or not found.whole:
        return False
    taken = dict(take(pipeline.live_cases(stage), Fitting(found.results)))[case.at]
    return bool(taken) and all(found.results[at][path].present for at in taken)


def _judge_length(pipeline: Pipeline, stage: Stage, case: Case, promised: Promise) -> ListMistake | None:
    """Return why the value at a path is not surely a list of as many elements as may run."""
    most = case.each.most if case.each is not None else None
    longest_of_all: int | float = 0
    for group in promised.ends:
        possible = list_possible(pipeline.schemas, group)
        if possible is None:
            return ListMistake(stage, case, ListError.INVOLVED, promised)
        for each in possible:
            layer = next(iter(each.layers), None)
            if each.types != _LIST:
                return ListMistake(stage, case, ListError.TYPE, promised, layer)
            longest = _find_longest(each)
            least = max(numbers(each, "minItems"), default=0)
            if most is not None and least > most:
                return ListMistake(stage, case, ListError.SHORT, promised, layer, int(least))
            if longest is None:
                return ListMistake(stage, case, ListError.UNBOUNDED, promised, layer)
            if most is not None and longest > most:
                return ListMistake(stage, case, ListError.LONG, promised, layer, int(longest))
            longest_of_all = max(longest, longest_of_all)
        if not possible:
            return ListMistake(stage, case, ListError.TYPE, promised)
    return None if longest_of_all > 0 else ListMistake(stage, case, ListError.EMPTY, promised)


_LIST = frozenset({"array"})


def _find_longest(combination: Combination) -> int | float | None:
    """Return how many elements a list has at most; nothing where it may have any number."""
    bounds = numbers(combination, "maxItems")
    listed = list_values(combination)
    if listed is not None:
        bounds.append(max((len(each) for each in listed if isinstance(each, list)), default=0))
    single = _count_single(combination)
    forbidden = (at for at in range(single + 1) if member(combination, str(at)).forbidden)
    return min((*bounds, *forbidden), default=None)


def _count_single(combination: Combination) -> int:
    """Return of how many elements, from the first one, a schema speaks one by one."""
    keywords = ("prefixItems", "items")
    every = (body.get(keyword) for body in bodies_of(combination) for keyword in keywords)
    return max((len(each) for each in every if isinstance(each, list)), default=0)


def promise_item(pipeline: Pipeline, stage: Stage, case: Case, path: tuple[str, ...]) -> Promise | None:
    """Return the promise for a path into an element of the list of a case; None if it is open."""
    found = _find_error(pipeline, stage, case)
    if not isinstance(found, Promise):
        return None
    groups: dict[tuple[Place, ...], tuple[Schema, ...]] = {}
    for group in found.ends:
        for each in list_possible(pipeline.schemas, group) or ():
            elements = [member(each, str(at)) for at in range(_count_single(each) + 1)]
            if each.types != _LIST or not all(one.whole for one in elements):
                return None
            possible = takewhile(lambda one: not one.forbidden, elements)
            groups |= {tuple(part.at for part in one.parts): one.parts for one in possible}
    return promise_of(pipeline.schemas, groups.values(), path) if groups else None


@value
class Uses:
    """For whose elements a stage runs: cases with their stages; `otherwise` is where it is come to without one."""

    cases: tuple[tuple[Stage, Case], ...] = ()
    otherwise: Place | None = None


def find_uses(pipeline: Pipeline) -> Mapping[str, Uses]:
    """Return for whose elements each stage runs, by its id; stages that no run comes to are left out."""
    return pipeline.memo.once("uses-of-elements", lambda: _find_uses(pipeline))


def _find_uses(pipeline: Pipeline) -> Mapping[str, Uses]:
    """Follow every way from the entry; `around` is the case whose elements run there, by its number."""
    cases = [*list_each(pipeline)]
    numbers_of = {case.at: number for number, (_, case) in enumerate(cases)}
    found: dict[str, dict[int, Place]] = {}
    entry = pipeline.entry
    todo = [] if entry is None else [(entry.name, _OUTSIDE, False, entry.at)]
    seen = set[tuple[str, int, bool]]()
    for name, around, is_sibling, at in todo:  # grows while it is read
        stage = pipeline.by_id.get(name)
        if stage is None or (name, around, is_sibling) in seen:
            continue
        seen.add((name, around, is_sibling))
        found.setdefault(name, {}).setdefault(around, at)
        for case in stage.conduct.cases:
            if is_sibling and not case.is_recovery:
                continue
            within = around if case.each is None else numbers_of[case.at]
            todo.extend((each.name, within, case.mode is Mode.FORK, each.at) for each in case.stages)
            if case.meant_join is not None and case.mode is Mode.FORK:
                todo.append((case.meant_join.name, around, False, case.meant_join.at))
    return {
        name: Uses(tuple(cases[number] for number in sorted(ways) if number != _OUTSIDE), ways.get(_OUTSIDE))
        for name, ways in found.items()
    }


_OUTSIDE = -1


def runs_for_elements(pipeline: Pipeline, stage: Stage) -> bool:
    """Tell whether a stage runs for elements, and in no other way."""
    uses = find_uses(pipeline).get(stage.name, Uses())
    return bool(uses.cases) and uses.otherwise is None


def promise_elements(pipeline: Pipeline, stage: Stage, name: str, path: Sequence[str]) -> list[Promise | None]:
    """Return the promise for a path into `item` or `index`, for each case whose elements a stage runs for."""
    if not path:
        return []
    if name == "index":
        return [Promise(Presence.IMPOSSIBLE)]
    cases = find_uses(pipeline).get(stage.name, Uses()).cases
    return [promise_item(pipeline, owner, case, tuple(path)) for owner, case in cases]


@value
class Nested:
    """A stage that runs for an element itself and would run elements: the place, that list, and the case around it.

    `within` is the list where an inner pipeline has it.
    """

    stage: Stage
    at: Place
    around: Case
    within: Place | None = None


def find_nested(pipeline: Pipeline) -> Iterator[Nested]:
    """Yield every stage that runs for an element itself and would run stages for the elements of another list."""
    uses = find_uses(pipeline)
    for stage, case in list_each(pipeline):
        around = uses.get(stage.name, Uses()).cases
        if around and case in pipeline.live_cases(stage):
            yield Nested(stage, case.at if case.each is None else case.each.at, around[0][1])
    for stage in pipeline.inner:
        around = uses.get(stage.name, Uses()).cases
        if stage.inner is not None and around and find_inner_mistake(pipeline, stage) is None:
            within = next(_list_inside(stage), None)
            if within is not None:
                yield Nested(stage, stage.inner.mention.at, around[0][1], within)


def _list_inside(stage: Stage) -> Iterator[Place]:
    """Yield the lists for whose elements the pipeline of a stage runs stages, with those of the pipelines in it."""
    todo = [stage]
    for around in todo:  # grows while it is read
        within = around.inner.pipeline if around.inner is not None else None
        if within is not None and within.depth < DEEPEST:
            yield from (case.at if case.each is None else case.each.at for _, case in list_each(within))
            todo += within.inner


def is_of_element(pipeline: Pipeline, name: str | int) -> bool:
    """Tell whether a name of the context is one that only stages for elements have, or may be one."""
    return name in ELEMENT and (runs_elements(pipeline) or not knows_elements(pipeline))


def knows_elements(pipeline: Pipeline) -> bool:
    """Tell whether every case could be read, so that it is known for whose elements stages run."""
    return pipeline.memo.once("knows-elements", lambda: _knows_elements(pipeline))


def _knows_elements(pipeline: Pipeline) -> bool:
    whole = all(stage.conduct.is_whole for stage in pipeline.by_id.values())
    return whole and not pipeline.is_lost and not pipeline.broken
