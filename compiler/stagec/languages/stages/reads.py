"""The members that stages read and require of the results they receive, on every path."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.ir.flow import Demand, Read, Source, Unmet
from stagec.languages.stages.document import Case, Incoming, IncomingKind, Pipeline, Placeholder, PlaceholderForm, Stage
from stagec.languages.stages.outcomes import ATTEMPTS, VERDICT, Fitting, can_skip, most_attempts, outcomes, take
from stagec.sources.contract.choices import identity
from stagec.sources.contract.combinations import Combination, as_object, combinations
from stagec.sources.contract.conflict import Conflict, conflict, emptiness
from stagec.sources.contract.member import list_needed, member
from stagec.sources.contract.promise import Presence, Promise, possible_values, promise
from stagec.sources.contract.reach import admits, bodies_of, list_values, read_bound
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.contract.variants import variants

Path = tuple[str | int, ...]


_RESULT = 3
"""`ctx`, `upstream` and the index come before the path into a result."""


_DEEPEST = 8
"""So many members inside each other are looked at of what a stage demands."""
_PATIENCE = 50_000
"""Paths into results that are followed for one pipeline: more than anybody needs. What is read beyond is not judged."""


def reads(pipeline: Pipeline) -> Iterator[Read]:
    """Yield every path in the prompt of a stage that leads into results or outputs of other stages."""
    patience = _PATIENCE
    for name, stage in pipeline.by_id.items():
        ways = pipeline.incoming.get(name, ())
        known: dict[tuple[int, Path], tuple[Source, ...]] = {}
        for each in stage.body.placeholders:
            inside = _inside(each)
            if inside is not None and inside not in known and patience > 0:
                known[inside] = _judge_all(pipeline, ways, *inside)
                patience -= len(ways)
            if inside is not None and inside in known:
                yield Read(name, inside[1], each.at, known[inside])
        if isinstance(stage.inputs, Schema):
            yield from _list_demanded(pipeline, name, stage.inputs)


def _judge_all(pipeline: Pipeline, ways: Iterable[Incoming], index: int, path: Path) -> tuple[Source, ...]:
    """Return the sources of the result at an index, each barred if no path to the reader can read it."""
    found = [(way, each) for way in ways for each in _sources(pipeline, way, index, path)]
    kept = _keep_weakest([iter([each for _, each in found])])
    is_barred = bool(found) and all(
        each.promised is not None
        and (each.promised.presence is Presence.IMPOSSIBLE or _is_barred(pipeline, each.node, way, path))
        for way, each in found
    )
    return tuple(replace(each, is_barred=True) for each in kept) if is_barred else kept


def _is_barred(pipeline: Pipeline, name: str, way: Incoming, path: Path) -> bool:
    """Tell whether no result with which a stage leads on a way has anything at a path that its schema allows."""
    stage = pipeline.by_id[name]
    if path[0] != "parsed" or way.is_awaited:
        return False
    cases = list_cases(pipeline, stage, way)
    if cases and all(_has_nothing(stage, case) for case in cases):
        return True
    wanted = tuple(map(str, path))
    found = pipeline.memo.once(("outcomes", stage.at, wanted), lambda: outcomes(pipeline.schemas, stage, wanted))
    leading = _list_leading(pipeline, stage, way, Fitting(found.results)) if found is not None and found.whole else ()
    return found is not None and bool(leading) and not any(found.results[at][wanted].present for at in leading)


def _has_nothing(stage: Stage, case: Case) -> bool:
    """Tell whether a case takes only results with which nothing was handed in."""
    if any(each.path[0] == "parsed" and each.present is not False for each in case.when):
        return False
    is_lost = not stage.conduct.checks and {"assert", "exit"}.isdisjoint(stage.conduct.hooks)
    return set(map(str, _verdicts_of(stage, case))) <= ({"skip", "fail"} if is_lost else {"skip"})


def _keep_weakest(found: Iterable[Iterator[Source]]) -> tuple[Source, ...]:
    """Return each node once, with the least that it promises on any way."""
    kept: dict[str, Source] = {}
    for each in chain.from_iterable(found):
        before = kept.get(each.node)
        if before is None or (before.promised is not None and before.promised.presence is Presence.SURE):
            kept[each.node] = each
    return tuple(kept.values())


def _list_demanded(pipeline: Pipeline, name: str, demanded: Schema) -> Iterator[Read]:
    """Yield the members that a stage requires of what is handed in; a result without one of them is not accepted."""
    ways = pipeline.incoming.get(name, ())
    never = find_unmet(pipeline, name, demanded)
    places = [(way, index) for way in ways for index in range(len(way.sources))]
    uncertain: set[Path] = set()
    schemas, known = pipeline.schemas, pipeline.by_id[name].known
    required = schemas.keep_beside(known, "required", lambda: tuple(_list_required(schemas, demanded)))
    for path, at, is_needed in required:
        found = _keep_weakest(_sources(pipeline, way, index, path, may_lack=not is_needed) for way, index in places)
        if any(each.promised is not None and each.promised.presence is not Presence.SURE for each in found):
            uncertain.add(path)
        if path[:-1] in uncertain:  # what holds it was told
            uncertain.add(path)
        else:
            yield Read(name, path, at, tuple(each for each in found if each.node not in never), is_demanded=True)


def _list_required(schemas: Schemas, demanded: Schema) -> Iterator[tuple[Path, Place, bool]]:
    """Yield the paths under `parsed` that a schema of results requires, where, and whether `parsed` itself is required.

    Alternatives and what lies deeper than a few levels are left out.
    """
    whole = _only(schemas, as_object(demanded))
    parsed = member(whole, "parsed") if whole is not None else None
    if whole is None or parsed is None:
        return
    if parsed.required:
        yield ("parsed",), _place_of_requirement(whole, "parsed"), True
    if not parsed.parts:
        return
    todo: list[tuple[Path, tuple[Schema, ...]]] = [(("parsed",), (*parsed.parts, as_object(demanded)[1]))]
    for path, group in todo:  # grows while it is walked
        combination = _only(schemas, group)
        if combination is None or len(path) > _DEEPEST:
            continue
        for name, found in list_needed(combination):
            yield (*path, name), _place_of_requirement(combination, name), parsed.required
            todo.append(((*path, name), found.parts))


def _only(schemas: Schemas, group: Iterable[Schema]) -> Combination | None:
    """Return the only combination of some schemas; None if there are alternatives."""
    found = combinations(schemas, group)
    return found[0] if found is not None and len(found) == 1 else None


def _place_of_requirement(combination: Combination, name: str) -> Place:
    """Return the place that requires a member; the first element of a list is required by the number of elements."""
    named = (each.at / "required" for each in combination.layers if name in _list_required_names(each))
    counted = (each.at / "minItems" for each in combination.layers if "minItems" in object_of(each.value))
    return next(chain(named, counted), combination.layers[0].at)


def _list_required_names(layer: Schema) -> list[Json]:
    return list_of(object_of(layer.value).get("required"))


def _inside(placeholder: Placeholder) -> tuple[int, Path] | None:
    """Return the index of the result and the path into it, if a placeholder names something inside one."""
    match placeholder.path[: _RESULT + 1]:
        case ("ctx", "upstream", int(index), "parsed" | "output") if placeholder.form is PlaceholderForm.PATH:
            return index, placeholder.path[_RESULT:]
    return None


def _sources(pipeline: Pipeline, way: Incoming, index: int, path: Path, *, may_lack: bool = False) -> Iterator[Source]:
    """Yield the sources of the result at an index, with their promises; `may_lack` allows an absent result."""
    for name in way.sources[index] if index < len(way.sources) else ():
        stage = pipeline.by_id.get(name)
        if stage is not None and path[0] == "output" and "exit" not in stage.conduct.hooks:
            yield Source(name, Promise(Presence.IMPOSSIBLE))
        elif stage is not None and path[0] == "parsed" and isinstance(stage.result, Schema):
            promised = _promise(pipeline.schemas, stage, stage.result, tuple(map(str, path[1:])))
            if promised.presence is Presence.SURE:
                is_sure = may_lack or _is_handed_in(pipeline, stage, way) or _is_ensured(pipeline, stage, way, path)
                promised = promised if is_sure else replace(promised, presence=Presence.POSSIBLE)
            elif promised.presence is not Presence.IMPOSSIBLE and _is_ensured(pipeline, stage, way, path):
                promised = replace(promised, presence=Presence.SURE)
            yield Source(name, replace(promised, followed=promised.followed + 1), stage.result.at)


def _promise(schemas: Schemas, stage: Stage, result: Schema, path: tuple[str, ...]) -> Promise:
    """Return the promise of the schema of a stage's results for a path."""
    return schemas.keep_beside(
        stage.known,
        ("promise", path),
        lambda: promise(schemas, result, path, of_object=True),
        lambda found: not found.near,
    )


def _is_handed_in(pipeline: Pipeline, stage: Stage, way: Incoming) -> bool:
    """Tell whether whatever leads on a way was handed in; a hook may judge that nothing is good enough."""
    is_judged = "assert" in stage.conduct.hooks
    if way.is_awaited:
        return not is_judged and not (way.elements is not None and way.elements.collects)
    cases = list_cases(pipeline, stage, way)
    return bool(cases) and all(
        (_verdicts_of(stage, case) == ["ok"] and not is_judged)
        or any(each.path[0] == "parsed" and each.present is not False for each in case.when)
        for case in cases
    )


def _is_ensured(pipeline: Pipeline, stage: Stage, way: Incoming, path: Path) -> bool:
    """Tell whether cases and checks let no result of a stage lead on a way that has nothing at a path."""
    if not stage.conduct.checks and (way.is_awaited or not any(each.when for each in stage.conduct.cases)):
        return False
    wanted = tuple(map(str, path))
    schemas = pipeline.schemas
    found = schemas.keep_beside(stage.known, ("outcomes", wanted), lambda: outcomes(schemas, stage, wanted))
    leading = _list_leading(pipeline, stage, way, Fitting(found.results)) if found is not None and found.whole else ()
    return found is not None and bool(leading) and all(found.results[at][wanted].present for at in leading)


def _list_leading(pipeline: Pipeline, stage: Stage, way: Incoming, fitting: Fitting) -> frozenset[int]:
    """Return the positions of the results with which a stage leads on a way."""
    if way.is_awaited:
        collects = way.elements is not None and way.elements.collects
        return fitting.meeting(()) if collects else fitting.having("ok")
    cases = list_cases(pipeline, stage, way)
    live = pipeline.live_cases(stage)
    ways = {case.at for case in cases}
    taken = take((*live, *(each for each in cases if each not in live)), fitting)
    return frozenset[int]().union(*(positions for at, positions in taken if at in ways))


def demands(pipeline: Pipeline) -> Iterator[Demand]:
    """Yield the demands on results that a stage before cannot meet."""
    for name, stage in pipeline.by_id.items():
        if isinstance(stage.inputs, Schema):
            found = find_unmet(pipeline, name, stage.inputs)
            if found:
                yield Demand(name, stage.inputs.at, tuple(found.values()))


def find_unmet(pipeline: Pipeline, name: str, demanded: Schema) -> Mapping[str, Unmet]:
    """Return the stages whose results cannot meet a demand, with the contradiction."""
    ways = pipeline.incoming.get(name, ())
    return pipeline.memo.once(
        ("unmet", name), lambda: {each.node: each for way in ways for each in _list_unmet(pipeline, way, demanded)}
    )


def _list_unmet(pipeline: Pipeline, way: Incoming, demanded: Schema) -> Iterator[Unmet]:
    for name in (each for source in way.sources for each in source):
        stage = pipeline.by_id.get(name)
        for verdicts in list_verdicts(pipeline, stage, way) if stage is not None else ():
            found = _find_conflict(pipeline, stage, verdicts, demanded) if stage is not None else None
            if stage is not None and found is not None:
                at = stage.at / "completionSchema" if "{result}" in found.offered.pointer else found.offered
                meant = _guess_path(pipeline.schemas, stage, found.path)
                yield Unmet(name, found.path, found.demanded, at, is_failed=verdicts == ["fail"], meant=meant)


def _guess_path(schemas: Schemas, stage: Stage, path: tuple[str | int, ...]) -> tuple[str, ...] | None:
    """Return the path of a result that was most likely meant: with its last name right, or below `parsed`."""
    inside = tuple(str(each) for each in (path[1:] if path[:1] == ("parsed",) else path))
    if not inside or not isinstance(stage.result, Schema):
        return None
    promised = _promise(schemas, stage, stage.result, inside)
    *around, last = inside
    if path[0] != "parsed":
        return ("parsed", *inside) if promised.presence in {Presence.SURE, Presence.POSSIBLE} else None
    right = promised.near.nearest(last) if promised.followed == len(around) else None
    return None if right in {None, last} else ("parsed", *around, str(right))


def _find_conflict(pipeline: Pipeline, stage: Stage, verdicts: list[Json], demanded: Schema) -> Conflict | None:
    """Return why no result that a stage has with any of some verdicts fits a schema."""
    found = [_conflict(pipeline, stage, [each], demanded) for each in verdicts]
    return found[0] if found and None not in found else None


def _conflict(pipeline: Pipeline, stage: Stage, verdicts: list[Json], demanded: Schema) -> Conflict | None:
    """Return why no result that a stage has with one of some verdicts fits a schema."""
    result, hooks = stage.result, stage.conduct.hooks
    if not isinstance(result, Schema):
        return None
    most, is_checked = most_attempts(stage), bool(stage.conduct.checks)
    question = "conflict", tuple(map(repr, verdicts)), hooks, most, is_checked

    def find() -> Conflict | None:
        at = result.at / "{result}"
        of_stage = _describe_results(hooks, verdicts, most, is_checked=is_checked)
        return conflict(pipeline.schemas, Schema(of_stage, at), demanded, {at / "properties" / "parsed": result})

    return pipeline.schemas.keep(question, (result, demanded), find)


def _describe_results(hooks: Collection[str], verdicts: list[Json], most: int | None, *, is_checked: bool) -> Object:
    """Return the schema of the results of a stage with some verdicts; that of what it hands in is put in later."""
    is_judged = "assert" in hooks  # a hook may accept whatever comes of an attempt, for any reason
    is_accepted = not is_judged and "fail" not in verdicts
    required: list[Json] = ["verdict", "reason", "capHit", "attemptCount"]
    least, last = (0 if is_judged or verdicts != ["ok"] else 1), (0 if verdicts == ["skip"] else most)
    reasons: list[Json] = [_REASONS_OF_ACCEPTED[str(each)] for each in verdicts] if is_accepted else []
    properties: dict[str, Json] = {
        "verdict": {"enum": verdicts},
        "capHit": {"const": False} if is_accepted else {"type": "boolean"},
        "attemptCount": {"type": "integer", "minimum": least, **({} if last is None else {"maximum": last})},
        "reason": {"enum": reasons} if reasons else {"type": "string"},
        "parsed": {},
    }
    if "exit" in hooks:
        properties["output"] = {}
    if verdicts == ["ok"] and not is_judged:
        required.append("parsed")
    # an exit hook that fails makes a stage fail whose result was accepted
    is_lost = verdicts == ["fail"] and not is_checked and {"assert", "exit"}.isdisjoint(hooks)
    if is_lost or verdicts == ["skip"]:
        del properties["parsed"]
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


_REASONS_OF_ACCEPTED: Mapping[str, Json] = {"ok": "", "skip": "skipped"}


def list_verdicts(pipeline: Pipeline, stage: Stage, way: Incoming) -> list[list[Json]]:
    """Return the verdicts with which a stage leads on a way, by each case; one that is joined has succeeded."""
    if way.elements is not None and way.elements.collects:
        return [["ok", "skip", "fail"] if can_skip(stage) else ["ok", "fail"]]
    if way.is_awaited:
        return [["ok"]]
    cases = list_cases(pipeline, stage, way)
    return [_verdicts_of(stage, case) for case in cases] or [[*_list_accepted(stage), "fail"]]


def _verdicts_of(stage: Stage, case: Case) -> list[Json]:
    asked = next((each for each in case.when if each.path == VERDICT), None)
    if asked is None:
        return _list_accepted(stage)
    return [*asked.values] if asked.present is None else [*_list_accepted(stage), "fail"]


def _list_accepted(stage: Stage) -> list[Json]:
    return ["ok", "skip"] if can_skip(stage) else ["ok"]


def list_cases(pipeline: Pipeline, stage: Stage, way: Incoming) -> list[Case]:
    """Return the cases by which a path leaves a stage: for the next stage of a sequence, those that end a branch."""
    if way.kind is not IncomingKind.CHAINED:
        inside = (case for case in stage.conduct.cases if way.at.file == case.at.file)
        found = next((case for case in inside if way.at.pointer[: len(case.at.pointer)] == case.at.pointer), None)
        return [] if found is None else [found]
    cases = pipeline.live_cases(stage)
    ends = [case for case in cases if not case.stages]
    if pipeline.is_sibling(stage.name) or not any(case.is_for_success for case in cases):
        ends.append(Case(stage.at, (), ()))  # a success that no case asks about
    return ends


_ATTEMPTS_TRIED = 16
_EXAMPLES: tuple[Json, ...] = ("x", "", 0, 1, True, None)


@value
class RefusedValue:
    """A value that the result of a stage may have at a path, and the schema that refuses it.

    With a `verdict`, only results with that one have it, and other results come on the same way.
    """

    source: Stage
    path: tuple[str, ...]
    given: Json
    demanded: Place
    verdict: str | None = None


def find_refused(pipeline: Pipeline, name: str, stage: Stage) -> Iterator[RefusedValue]:
    """Yield a value of each path that a stage demands something of, where a stage before it may hand in another."""
    if not isinstance(stage.inputs, Schema):
        return
    demanded, never = tuple(list_demanded(pipeline, stage.inputs)), find_unmet(pipeline, name, stage.inputs)
    ways = pipeline.incoming.get(name, ())
    sources = {each.name: each for way in ways for each in list_free(pipeline, way) if each.name not in never}
    for source in sources.values():
        for path, combination in demanded:
            example = find_example(pipeline, source, path, combination)
            if example is not None:
                yield RefusedValue(source, ("parsed", *path), example[0], combination.layers[0].at)
        yield from _find_refused_count(pipeline, source, stage.inputs)
    told = set[str]()
    for way in ways:
        for each in (each for names in way.sources for each in names if each not in never):
            handing = pipeline.by_id.get(each)
            found = () if handing is None else tuple(_find_refused_verdict(pipeline, way, handing, stage.inputs))
            yield from found if each not in told else ()
            told |= {each} if found else set()


def _find_refused_verdict(pipeline: Pipeline, way: Incoming, source: Stage, inputs: Schema) -> Iterator[RefusedValue]:
    """Yield what a schema of results refuses outside `parsed` of each with one verdict, and not of all that come."""
    mixed = (each for each in list_verdicts(pipeline, source, way) if len(each) > 1)
    for verdict in chain.from_iterable(mixed):
        found = _conflict(pipeline, source, [verdict], inputs)
        given = {**_GIVEN.get(str(verdict), {}), "verdict": verdict}
        if found is not None and len(found.path) == 1 and found.path[0] in given:
            yield RefusedValue(source, found.path, given[found.path[0]], found.demanded, verdict=str(verdict))


_GIVEN: Mapping[str, Object] = {"skip": {"reason": "skipped", "capHit": False, "attemptCount": 0}}
"""What stands in each result with a verdict."""


def _find_refused_count(pipeline: Pipeline, source: Stage, inputs: Schema) -> Iterator[RefusedValue]:
    """Yield a number of attempts after which a result of a stage is accepted, and that a schema of results refuses."""
    most, asks = (
        most_attempts(source),
        any(each.path == ATTEMPTS for case in source.conduct.cases for each in case.when),
    )
    demanded = combinations(pipeline.schemas, as_object(inputs))
    if most is None or asks or demanded is None or len(demanded) != 1:
        return
    wanted = combinations(pipeline.schemas, member(demanded[0], ATTEMPTS[0]).parts) or ()
    if len(wanted) == 1 and wanted[0].layers:
        refused = (each for each in range(1, min(most, _ATTEMPTS_TRIED) + 1) if not _fits(wanted[0], each))
        yield from (RefusedValue(source, ATTEMPTS, each, wanted[0].layers[0].at) for each in islice(refused, 1))


def _fits(combination: Combination, given: Json) -> bool:
    """Tell whether a combination may leave a value."""
    listed = list_values(combination)
    return admits(combination, given) and (listed is None or identity(given) in map(identity, listed))


def list_free(pipeline: Pipeline, way: Incoming) -> Iterator[Stage]:
    """Yield the stages that lead on a way with every result that their schema accepts.

    Checks, hooks and cases that ask about what is handed in may keep some of these results from the way.
    """
    for name in (each for names in way.sources for each in names):
        stage = pipeline.by_id.get(name)
        if stage is None or not isinstance(stage.result, Schema) or stage.conduct.checks:
            continue
        asks = any(each.path[0] == "parsed" for case in stage.conduct.cases for each in case.when)
        leads = any("ok" in verdicts for verdicts in list_verdicts(pipeline, stage, way))
        is_first = list_cases(pipeline, stage, way)[:1] in ([], [*stage.conduct.cases[:1]])
        is_free = is_first and "assert" not in stage.conduct.hooks and (not asks or way.kind is IncomingKind.JOIN)
        if leads and is_free and emptiness(pipeline.schemas, stage.result) is None:
            yield stage


def list_demanded(pipeline: Pipeline, demanded: Schema) -> Iterator[tuple[tuple[str, ...], Combination]]:
    """Yield the paths under `parsed` that a schema of results speaks of, each with what has to hold there."""
    todo: list[tuple[tuple[str, ...], tuple[Schema, ...]]] = [((), as_object(demanded))]
    for path, group in todo:  # grows while it is walked
        found = combinations(pipeline.schemas, group)
        if found is None or len(found) != 1 or len(path) > _DEEPEST:
            continue
        if len(path) > 1 and found[0].layers:
            yield path[1:], found[0]
        declared = (name for body in bodies_of(found[0]) for name in object_of(body.get("properties")))
        for name in dict.fromkeys(declared) if path else ("parsed",):
            parts = member(found[0], name).parts
            if parts:
                todo.append(((*path, name), parts))


def find_example(pipeline: Pipeline, source: Stage, path: tuple[str, ...], demanded: Combination) -> tuple[Json] | None:
    """Return a value that can surely stand at a path and is surely refused, in a tuple because it may be null."""
    if not isinstance(source.result, Schema):
        return None
    named = possible_values(pipeline.schemas, promise(pipeline.schemas, source.result, path, of_object=True))
    candidates = _EXAMPLES + list_edges(demanded) if isinstance(named, Miss) else named
    refused = {identity(each): each for each in candidates if not _fits(demanded, each)}
    found = variants(pipeline.schemas, source.result, {path: tuple(refused.values())}) if refused else None
    if found is None or not found.exact or not found.whole:
        return None
    standing = (each[path] for each in found.found)
    return next(((each.given,) for each in standing if each.present and each.asked), None)


def list_edges(demanded: Combination) -> tuple[Json, ...]:
    """Return numbers and texts just outside of the bounds of a demand."""
    bounds = [(key, read_bound(body, key)) for body in bodies_of(demanded) for key in _BOUNDS]
    edges: list[Json] = []
    for key, bound in bounds:
        if bound is not None and key.endswith("Length"):
            edges.append("x" * min(max(0, int(bound) + _BOUNDS[key]), _LONGEST))
        elif bound is not None:
            edges += [bound, bound + _BOUNDS[key]]
    return tuple(edges)


_BOUNDS = {"minimum": -1, "exclusiveMinimum": -1, "maximum": 1, "exclusiveMaximum": 1, "minLength": -1, "maxLength": 1}
_LONGEST = 200
"""Longer texts show nothing to a reader."""
