"""Values that a stage may hand in and that the `inputsSchema` of the stage after it refuses."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.contract.choices import identity
from stagec.contract.combinations import Combination, as_object, combinations
from stagec.contract.conflict import emptiness
from stagec.contract.extent import admits, bodies_of, list_values, read_bound
from stagec.contract.member import member
from stagec.contract.promise import possible_values, promise
from stagec.contract.schemas import Miss, Schema
from stagec.contract.variants import variants
from stagec.core.json import Json, object_of
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.stages.document import Incoming, IncomingKind, Pipeline, Stage
from stagec.frontends.stages.reads import find_unmet, list_cases, list_verdicts

_DEEPEST = 8
"""So many members inside each other are looked at of what a stage demands."""
_EXAMPLES: tuple[Json, ...] = ("x", "", 0, 1, True, None)


@value
class RefusedValue:
    """A value that a stage may hand in at a path under `parsed`, and the schema that refuses it."""

    source: Stage
    path: tuple[str, ...]
    given: Json
    demanded: Place


def find_refused(pipeline: Pipeline, name: str, stage: Stage) -> Iterator[RefusedValue]:
    """Yield a value of each path that a stage demands something of, where a stage before it may hand in another."""
    if not isinstance(stage.inputs, Schema):
        return
    demanded, never = tuple(list_demanded(pipeline, stage.inputs)), find_unmet(pipeline, name, stage.inputs)
    ways = pipeline.incoming.get(name, ())
    sources = {each.name: each for way in ways for each in list_free(pipeline, way) if each.name not in never}
    for source in sources.values():
        for path, combination in demanded:
            found = find_example(pipeline, source, path, combination)
            if found is not None:
                yield RefusedValue(source, path, found[0], combination.layers[0].at)


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
    listed = list_values(demanded)
    known = None if listed is None else set(map(identity, listed))
    refused = {
        identity(each): each
        for each in candidates
        if not admits(demanded, each) or (known is not None and identity(each) not in known)
    }
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
