"""The ways in which a value can satisfy a schema: its alternatives, taken one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from stagec.core.json import Json, Object, kind_of, list_of, object_of, whole_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import value
from stagec.sources.contract.schemas import Schema, Schemas

_MOST = 256
"""So many combinations of alternatives are looked at for one group of schemas."""


_DEPENDENT = ("dependentRequired", "dependencies")
"""Keywords that list members which others make required."""


class Combination:
    """Schemas without further alternatives that hold together.

    `types` are the kinds of value they leave, None when none of them says; `whole` tells that all parts could be read.
    What is asked of it once for every member is indexed when it is first asked for; `memo` has what others work out.
    """

    def __init__(self, layers: tuple[Schema, ...], types: frozenset[str] | None, *, whole: bool) -> None:
        self.layers = layers
        self.types = types
        self.whole = whole
        self.memo = Memo()

    @cached_property
    def declared(self) -> NameIndex:
        """The names of all members that have a schema of their own."""
        return NameIndex(name for each in self.layers for name in object_of(object_of(each.value).get("properties")))

    @cached_property
    def required(self) -> Mapping[str, None]:
        """The names of all members that some layer requires, in their order; then those that these make required.

        A closed object that must have as many members as it may have at most has all of them.
        """
        bodies = [object_of(each.value) for each in self.layers]
        listed = (list_of(each.get("required")) for each in bodies)
        found = dict.fromkeys(name for names in listed for name in names if isinstance(name, str))
        least = max((each for body in bodies if (each := whole_of(body.get("minProperties"))) is not None), default=0)
        closed = _list_only(bodies) if least > len(found) else None
        found |= dict.fromkeys(closed or ()) if closed is not None and len(closed) <= least else {}
        dependents = [object_of(each[key]) for each in bodies for key in _DEPENDENT if key in each]
        todo = [*found] if dependents else []
        for name in todo:  # grows while it is walked
            more = (each for one in dependents for each in list_of(one.get(name)) if isinstance(each, str))
            fresh = [each for each in dict.fromkeys(more) if each not in found]
            found |= dict.fromkeys(fresh)
            todo += fresh
        return found

    @cached_property
    def is_alternative(self) -> bool:
        """Whether a layer leaves a choice, or denies something."""
        return any(not _CHOOSING.isdisjoint(object_of(each.value)) for each in self.layers)

    @cached_property
    def closes_unevaluated(self) -> bool:
        """Whether a layer forbids every member that no schema beside or below it speaks of."""
        return any(object_of(each.value).get("unevaluatedProperties") is False for each in self.layers)

    @cached_property
    def opens_others(self) -> bool:
        """Whether a layer speaks of members that it does not name, or under a condition."""
        return any(not _OPENING.isdisjoint(object_of(each.value)) for each in self.layers)

    def speaking(self, name: str) -> Iterator[Schema]:
        """Yield the layers that can say more of a member than that it is required."""
        declaring, general = self._speaking
        yield from (self.layers[at] for at in sorted({*declaring.get(name, ()), *general}))

    @cached_property
    def _speaking(self) -> tuple[Mapping[str, list[int]], tuple[int, ...]]:
        declaring: dict[str, list[int]] = {}
        general: list[int] = []
        for at, each in enumerate(self.layers):
            body = object_of(each.value)
            if not _GENERAL.isdisjoint(body):
                general.append(at)
                continue
            for name in object_of(body.get("properties")):
                declaring.setdefault(name, []).append(at)
        return declaring, tuple(general)


def _list_only(bodies: list[Object]) -> list[str] | None:
    """Return the only members that values may have, by what leaves the fewest; None where there may be any."""
    closed = [
        [name for name, inner in object_of(each.get("properties")).items() if inner is not False]
        for each in bodies
        if each.get("additionalProperties") is False and not each.get("patternProperties")
    ]
    named = (object_of(each.get("propertyNames")).get("enum") for each in bodies)
    closed += [[name for name in each if isinstance(name, str)] for each in named if isinstance(each, list)]
    if any(each.get("unevaluatedProperties") is False for each in bodies) and not any(map(_opens, bodies)):
        closed.append([*dict.fromkeys(name for each in bodies for name in object_of(each.get("properties")))])
    return min(closed, key=len, default=None)


def _opens(body: Object) -> bool:
    return not _OPENING.isdisjoint(body) or bool(body.get("patternProperties"))


_GENERAL = frozenset(
    {
        *("patternProperties", "additionalProperties", "dependencies", "dependentSchemas", "dependentRequired"),
        *("$dynamicRef", "$recursiveRef", "not", "minProperties", "enum", "const"),
    }
)
"""Keywords by which a schema speaks of members that it does not name."""
_CHOOSING = frozenset({"anyOf", "oneOf", "if", "not", "dependentSchemas", "dependencies"})
_OPENING = frozenset({"additionalProperties", "if"})


def combinations(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return every combination in which schemas can hold together, None when there are too many.

    Combinations that no value can satisfy are left out where their types alone tell. Those of one group are found once:
    many paths lead through the same schemas.
    """
    every = tuple(group)
    key = ("combinations", *((each.at, id(each.value)) for each in every))
    return schemas.memo.once(key, lambda: (_combinations(schemas, every), every))[
        0
    ]  # the ids last as long as the group


def _combinations(schemas: Schemas, group: tuple[Schema, ...]) -> tuple[Combination, ...] | None:
    todo = [_Draft({}, True, group, ())]
    done: list[Combination] = []
    for _ in range(_MOST):
        if not todo:
            return tuple(done)
        grown = _grow(schemas, todo.pop())
        if grown is None:
            continue
        if grown.pending:
            branches, *rest = grown.pending
            todo.extend(_Draft(dict(grown.layers), grown.whole, each, tuple(rest)) for each in reversed(branches))
        elif (types := _types(grown.layers.values())) is None or types:
            done.append(Combination(tuple(grown.layers.values()), types, whole=grown.whole))
    return None


def as_object(schema: Schema) -> tuple[Schema, Schema]:
    """Return a schema together with what says that it is about objects only."""
    return schema, Schema(_OF_OBJECTS, schema.at / "{}")


_OF_OBJECTS: Json = {"type": "object"}
"""One for all schemas: what is known of a group of schemas is found again by the identity of their values."""


def clash(schemas: Schemas, group: Iterable[Schema]) -> tuple[Schema, Schema] | None:
    """Return two schemas that hold together and leave no type to a value."""
    typed: list[tuple[Schema, frozenset[str]]] = []
    for each in schemas.layers(*group):
        types = types_of(each.value) if isinstance(each, Schema) and isinstance(each.value, dict) else None
        if isinstance(each, Schema) and types is not None:
            other = next((one for one, before in typed if before.isdisjoint(types)), None)
            if other is not None:
                return other, each
            typed.append((each, types))
    return None


@value
class _Draft:
    """A combination that is being made: layers so far, schemas to add, and alternatives that are not chosen yet."""

    layers: dict[Place, Schema]
    whole: bool
    fresh: tuple[Schema, ...]
    pending: tuple[tuple[tuple[Schema, ...], ...], ...]


def _grow(schemas: Schemas, draft: _Draft) -> _Draft | None:
    """Add the fresh schemas and all that holds with them; None if one of them accepts no value."""
    layers, whole, pending = draft.layers, draft.whole, list(draft.pending)
    for each in schemas.layers(*draft.fresh):
        if not isinstance(each, Schema):
            whole = False
        elif each.value is False:
            return None
        elif isinstance(each.value, dict) and each.at not in layers:
            layers[each.at] = each
            pending.extend(_alternatives(each, each.value))
    return _Draft(layers, whole, (), tuple(pending))


def _alternatives(layer: Schema, body: Object) -> Iterator[tuple[tuple[Schema, ...], ...]]:
    for keyword in ("anyOf", "oneOf"):
        branches = body.get(keyword)
        if isinstance(branches, list) and branches:
            written = [Schema(each, layer.at / keyword / index) for index, each in enumerate(branches)]
            is_one = keyword == "oneOf" and len(written) <= MOST_DENIED
            yield tuple((each, *(_deny(written, each) if is_one else ())) for each in written)
    if "if" in body and ("then" in body or "else" in body):
        yield (
            _some(layer, body, "if", "then"),
            (Schema({"not": body["if"]}, layer.at / "{else}"), *_some(layer, body, "else")),
        )
    for keyword, name, inner in list_dependents(body) if follows_dependents(body) else ():
        at = layer.at / keyword / name
        yield (
            (Schema({"properties": {name: False}}, at / "{without}"),),
            (Schema({"required": [name]}, at / "{with}"), Schema(inner, at)),
        )


def list_dependents(body: Object) -> list[tuple[str, str, Json]]:
    """Return the schemas that a schema applies only where a member is there: keyword, member and schema."""
    found = ((keyword, object_of(body.get(keyword)).items()) for keyword in ("dependentSchemas", "dependencies"))
    return [(keyword, name, each) for keyword, inner in found for name, each in inner if isinstance(each, dict | bool)]


def follows_dependents(body: Object) -> bool:
    """Tell whether these schemas are taken one by one: each of them doubles the combinations."""
    return len(list_dependents(body)) <= _MOST_DEPENDENT


_MOST_DEPENDENT = 4
MOST_DENIED = 16
"""So many branches of a `oneOf` are compared with each other."""


def _deny(branches: Iterable[Schema], chosen: Schema) -> Iterator[Schema]:
    """Yield the denials of the other branches of a `oneOf`."""
    for index, each in enumerate(branches):
        if each is not chosen:
            yield Schema({"not": each.value}, chosen.at / f"{{not {index}}}")


def _some(layer: Schema, body: Object, *keywords: str) -> tuple[Schema, ...]:
    return tuple(Schema(body[each], layer.at / each) for each in keywords if each in body)


def _types(layers: Iterable[Schema]) -> frozenset[str] | None:
    """Return the types that all layers leave, with `integer` for a `number` too; None when no layer says."""
    common: frozenset[str] | None = None
    for each in layers:
        types = types_of(each.value) if isinstance(each.value, dict) else None
        if types is not None:
            common = types if common is None else common & types
    return common


def types_of(body: Object) -> frozenset[str] | None:
    """Return the types that a schema itself allows, with `integer` for a `number` too; None when it does not say.

    Of names that are no types nothing is known: what their author meant is anybody's guess.
    """
    named = body.get("type")
    names = [named] if isinstance(named, str) else named
    if isinstance(names, list):
        known = [each for each in names if isinstance(each, str) and each in _TYPES]
        return frozenset().union(*map(_TYPES.__getitem__, known)) if known and len(known) == len(names) else None
    listed = [body["const"]] if "const" in body else body.get("enum")
    return frozenset(type_of(each) for each in listed) if isinstance(listed, list) else None


_TYPES = {
    **{each: frozenset({each}) for each in ("array", "boolean", "integer", "null", "object", "string")},
    "number": frozenset({"number", "integer"}),
}


def type_of(given: Json) -> str:
    """Return the type of a value in JSON Schema: `1.0` is an integer."""
    return "integer" if isinstance(given, float) and given.is_integer() else kind_of(given)
