"""Whether some value satisfies a schema, or two schemas together, and which parts of them exclude each other if not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.sources.contract.choices import identity
from stagec.sources.contract.combinations import Combination, as_object, clash, combinations, type_of, types_of
from stagec.sources.contract.member import list_needed, member
from stagec.sources.contract.reach import admits, count_out, fits_extent, list_values, lists, read_bound
from stagec.sources.contract.schemas import Schema, Schemas, list_parts
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS, SchemaPart, position

_Written = Hashable
_PARTS = frozenset({"$defs", "definitions"})
_SILENT = frozenset(
    {
        *("$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title"),
        *("writeOnly", *_PARTS),
    }
)
"""Keywords that refuse no value by themselves; what parts of others are for is seen where they are referred to."""
_DEEPEST, _EQUALITY_MOST = 64, 5_000
"""Schemas inside each other, and schemas in all, that are written."""


def are_alike(schemas: Schemas, one: Schema, other: Schema) -> bool:
    """Tell whether two schemas surely accept the same values; order, words for people and shared parts do not count."""
    if schemas.draft(one) is not schemas.draft(other):
        return False
    if one.at.file == other.at.file and one.value is other.value:
        return True
    first, second = (_Writer(schemas, each).write(each.value, each.at) for each in (one, other))
    return first == second


class _Writer:
    """Writes the schemas of one document in a way that is the same for all that say the same."""

    def __init__(self, schemas: Schemas, root: Schema) -> None:
        self._schemas = schemas
        self._open = [root.at]
        self._depth, self._left = 0, _EQUALITY_MOST
        # which parts a reference means that looks at the way to it is not followed, so all of them count
        looks_around = any(True for _ in list_parts(root, frozenset({"$dynamicRef", "$recursiveRef"})))
        self._silent = _SILENT - _PARTS if looks_around else _SILENT

    def write(self, given: Json, at: Place, part: SchemaPart = SchemaPart.SCHEMA) -> _Written:
        """Return the content of a part of a schema."""
        if isinstance(given, dict) and part is SchemaPart.SCHEMA:
            return self._write_schema(given, at)
        if isinstance(given, dict) and part is not SchemaPart.DATA:
            inner = {key: self.write(each, at / key, position(part, key, each)) for key, each in given.items()}
            return _write_members(inner)
        if isinstance(given, list) and part is not SchemaPart.DATA:
            return tuple(self.write(each, at / key, position(part, key, each)) for key, each in enumerate(given))
        return identity(given)

    def _write_schema(self, schema: Object, at: Place) -> _Written:
        """Return the content of a schema; one that is too deep, or one too many, is unlike every other one."""
        self._left -= 1
        if self._depth >= _DEEPEST or self._left < 0:
            return (at.file, at.pointer)
        self._depth += 1
        said = {key: each for key, each in schema.items() if key not in self._silent}
        if "const" in said and "enum" not in said:
            said["enum"] = [said.pop("const")]
        written = {key: self._write_keyword(key, each, at / key) for key, each in said.items() if key != "$ref"}
        written = {key: each for key, each in written.items() if each not in _NOTHING.get(key, ())}
        target = self._write_target(str(said["$ref"]), at) if isinstance(said.get("$ref"), str) else None
        self._depth -= 1
        if target is not None and not written:
            return target
        if target is None and len(written) == 1:
            key, parts = next(iter(written.items()))
            if key in _CHOICES and isinstance(parts, tuple) and len(parts) == 1:
                alone: _Written = parts[0]
                return alone
        written |= {} if target is None else {"$ref": target}
        return _write_members(written) if written else identity(True)

    def _write_target(self, reference: str, at: Place) -> _Written:
        """Return the target of a reference; one that leads back up is the number of steps to there."""
        found = self._schemas.resolve(reference, at.file, self._schemas.base(at))
        if not isinstance(found, Schema):
            return (reference,)
        if found.at in self._open:
            return (len(self._open) - self._open.index(found.at),)
        self._open.append(found.at)
        target = self.write(found.value, found.at)
        self._open.pop()
        return target

    def _write_keyword(self, key: str, given: Json, at: Place) -> _Written:
        if key in {"required", "enum", "type"}:
            every = given if isinstance(given, list) else [given]
            return tuple(sorted({identity(each) for each in every}, key=repr))
        if key in _CHOICES and isinstance(given, list):
            parts = sorted((self.write(each, at / index) for index, each in enumerate(given)), key=repr)
            return tuple(each for each in parts if key != "allOf" or each != identity(True))
        return self.write(given, at, position(SchemaPart.SCHEMA, key, given))


def _write_members(members: Mapping[str, _Written]) -> _Written:
    return tuple(sorted(members.items(), key=itemgetter(0)))


_CHOICES = frozenset({"allOf", "anyOf", "oneOf"})
"""Keywords that say with one schema what the schema says."""
_NOTHING: Mapping[str, tuple[_Written, ...]] = {
    "required": ((),),
    "allOf": ((),),
    "uniqueItems": (identity(False),),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), (identity(0),)),
    **dict.fromkeys(("properties", "patternProperties", "dependentRequired", "dependentSchemas"), ((),)),
    **dict.fromkeys(("additionalProperties", "items", "propertyNames", "unevaluatedProperties"), (identity(True),)),
}
"""The value of a keyword that refuses no value."""


_NEGATIONS_DEEPEST = 8
"""So many members inside each other are looked at."""


def list_denied(combination: Combination) -> Iterator[Schema]:
    """Yield the schemas that the layers of a combination deny."""
    for each in combination.layers:
        body = object_of(each.value)
        if "not" in body:
            yield Schema(body["not"], each.at / "not")


def find_denial(schemas: Schemas, combination: Combination) -> Place | None:
    """Return the keyword that excludes all values of a combination, None if some may be left."""
    found = (each for each in list_denied(combination) if judge_denied(schemas, combination, each))
    return next((_find_keyword(each.at) for each in found), None)


def _find_keyword(at: Place) -> Place:
    """Return the keyword of a project that stands for a denial: its `not`, or the `oneOf` or `if` it comes from."""
    *outer, maker = at.pointer[:-1] or ("",)
    if str(maker) == "{else}":
        return Place(at.file, (*outer, "if"))
    return Place(at.file, tuple(outer[:-1])) if str(maker).startswith("{not ") else at


def judge_denied(schemas: Schemas, combination: Combination, schema: Schema) -> bool | None:
    """Tell whether all values of a combination satisfy what it denies; False where one can leave a part of it out."""
    wanted = list_of(object_of(schema.value).get("required"))
    if combination.types == frozenset({"object"}) and any(str(name) not in combination.required for name in wanted):
        return False
    return _judge(schemas, combination, schema, _NEGATIONS_DEEPEST)


def _judge(schemas: Schemas, combination: Combination, schema: Schema, depth: int) -> bool | None:
    """Tell whether all values of a combination satisfy a schema, or none does; None where it depends or is involved."""
    found: list[bool | None] = []
    for each in schemas.layers(schema):
        if not isinstance(each, Schema) or depth == 0:
            found.append(None)
        elif isinstance(each.value, dict):
            found += _judge_keywords(schemas, combination, each, depth)
        else:
            found.append(each.value if isinstance(each.value, bool) else None)
    return False if False in found else None if None in found else True


def _judge_keywords(schemas: Schemas, combination: Combination, schema: Schema, depth: int) -> Iterator[bool | None]:
    body = object_of(schema.value)
    listed = list_values(combination)
    alone = {fits_extent(body, each) for each in listed} if listed is not None else {None}
    if len(alone) == 1 and None not in alone:
        yield alone.pop()
        return
    for key, given in body.items():
        if key == "type":
            yield _judge_types(combination, body)
        elif key == "required":
            yield judge_required(combination, list_of(given))
        elif key == "properties":
            inner = object_of(given).items()
            yield from (
                judge_member(schemas, combination, name, Schema(each, schema.at / key / name), depth)
                for name, each in inner
            )
        elif key in KEYWORDS and key not in REMARKS and key not in {"allOf", "$ref"}:
            yield None


def _judge_types(combination: Combination, body: Object) -> bool | None:
    types = types_of({"type": body["type"]})
    if types is None or combination.types is None:
        return None
    return True if combination.types <= types else False if combination.types.isdisjoint(types) else None


def judge_required(combination: Combination, names: list[Json]) -> bool | None:
    """Tell whether all values of a combination have some members, or none has all of them."""
    if combination.types != frozenset({"object"}):
        return None
    if all(isinstance(name, str) and name in combination.required for name in names):
        return True
    return False if any(isinstance(name, str) and member(combination, name).forbidden for name in names) else None


def judge_member(
    schemas: Schemas, combination: Combination, name: str, schema: Schema, depth: int = _NEGATIONS_DEEPEST
) -> bool | None:
    """Tell whether a member satisfies a schema, where it is there, in all values of a combination, or in none."""
    found = member(combination, name)
    if found.forbidden:
        return True
    possible = combinations(schemas, found.parts) if found.parts else None
    judged = {_judge(schemas, each, schema, depth - 1) for each in possible or ()}
    if judged == {True} or schema.value is True:
        return True
    return False if judged == {False} and found.required and combination.types == frozenset({"object"}) else None


Group = tuple[Schema, ...]


_CONFLICT_DEEPEST = 16
"""So many members inside each other are compared."""
_PATIENCE = 5_000
"""So many combinations of alternatives are looked at for one question."""


@value
class Conflict:
    """The path at which no value is possible, and the parts of the two schemas that say so.

    `at` is the keyword that leaves no value, and `against` the one that contradicts it, if any.
    """

    path: tuple[str, ...]
    offered: Place
    demanded: Place
    at: Place
    against: Place | None = None


def conflict(
    schemas: Schemas, offered: Schema, demanded: Schema, stand_ins: Mapping[Place, Schema] | None = None
) -> Conflict | None:
    """Return why no value fits both schemas; None if one may, or it cannot be told, or none fits what is offered.

    `stand_ins` are schemas that stand for parts of others, by the place of the part.
    """
    search = _Search(schemas, stand_ins or {})
    found = search.conflict((offered,), (demanded,), ())
    return found if found is None or search.conflict((offered,), (), ()) is None else None


def emptiness(schemas: Schemas, schema: Schema) -> Conflict | None:
    """Return why no object satisfies a schema; None if one may, or it cannot be told.

    Nothing either where the schema is satisfied by other values, and by no object because it asks for another type.
    """

    def find() -> Conflict | None:
        return schemas.keep_fault("emptiness", schema, lambda: _find_emptiness(schemas, schema))

    return schemas.memo.once(("emptiness", schema.at), find)


def find_contradiction(schemas: Schemas, schema: Schema) -> Conflict | None:
    """Return why no value of any type satisfies a schema; None if one may, or it cannot be told."""
    return _Search(schemas, {}).conflict((schema,), (), ())


def _find_emptiness(schemas: Schemas, schema: Schema) -> Conflict | None:
    found = find_contradiction(schemas, schema)
    if found is not None or object_of(schema.value).get("type") == "object":
        return found
    found = _Search(schemas, {}).conflict(as_object(schema), (), ())
    return found if found is not None and found.path else None


def is_void(schemas: Schemas, combination: Combination) -> bool:
    """Tell whether no value is left by a combination for sure."""
    return combination.memo.once("void", lambda: _Search(schemas, {}).is_void(combination))


_PLAIN = frozenset(
    {
        *("type", "title", "description", "default", "examples", "$comment"),
        *("properties", "items", "format", "pattern", "minLength", "uniqueItems"),
    }
)
"""Keywords of which no two exclude each other, as far as that is looked for."""


class _Search:
    """Goes down both schemas along the members that have to be there."""

    def __init__(self, schemas: Schemas, stand_ins: Mapping[Place, Schema]) -> None:
        self._schemas = schemas
        self._stand_ins = stand_ins
        self._left = _PATIENCE
        self._possible: set[frozenset[Place]] = set()
        self._open: set[frozenset[Place]] = set()

    def conflict(self, offered: Group, demanded: Group, path: tuple[str, ...]) -> Conflict | None:
        """Return why nothing fits all schemas of both groups; in every alternative there has to be a reason.

        A value that has to hold another one of the same schemas has no end, so there is none.
        """
        group = (*offered, *demanded)
        key = frozenset(each.at for each in group)
        # most of those inside others have nothing by themselves that could leave no value
        body = group[0].value if len(group) == 1 else None
        is_plain = isinstance(body, dict) and body.keys() <= _PLAIN and body.get("type") != []
        if len(path) >= _CONFLICT_DEEPEST or key in self._possible or not group or is_plain:
            return None
        here = Conflict(path, (offered or group)[0].at, (demanded or group)[0].at, group[0].at)
        if key in self._open:
            return here
        self._open.add(key)
        found = self._judge_all(here, offered, demanded)
        self._open.remove(key)
        if found is None:
            self._possible.add(key)
        return found

    def is_void(self, combination: Combination) -> bool:
        """Tell whether no value is left by a combination."""
        is_empty = _VoidFinder(self._schemas, combination).find() is not None
        return is_empty or self._inside(combination, combination.layers, (), ()) is not None

    def _judge_all(self, here: Conflict, offered: Group, demanded: Group) -> Conflict | None:
        group = (*offered, *demanded)
        possible = combinations(self._schemas, group)
        self._left -= len(possible or ())
        if possible is None or self._left < 0:
            return None
        if not possible:
            return _put(here, self._explain(group))
        first: Conflict | None = None
        for each in possible:
            void = _VoidFinder(self._schemas, each).find()
            found = _put(here, void) if void is not None else self._inside(each, offered, demanded, here.path)
            if found is None:
                return None
            first = first or found
        return first

    def _inside(
        self, combination: Combination, offered: Group, demanded: Group, path: tuple[str, ...]
    ) -> Conflict | None:
        """Return why a member that has to be there can be nothing; what is not demanded contradicts no demand."""
        needed = list_needed(combination)
        wants = self._reach(demanded if needed else ())
        for name, found in needed:
            inside = (*path, name)
            if found.forbidden:
                sides = (offered or demanded)[0].at, (demanded or offered)[0].at
                finder = _VoidFinder(self._schemas, combination)
                return Conflict(inside, *sides, finder.find_demand(name), finder.find_bar(name))
            parts = tuple(self._stand_ins.get(each.at, each) for each in found.parts)
            theirs = tuple(each for each in parts if wants(each.at))
            ours = tuple(each for each in parts if not wants(each.at))
            reason = self.conflict(ours, theirs, inside) if theirs or (parts and not demanded) else None
            if reason is not None:
                return reason
        return None

    def _reach(self, group: Group) -> Callable[[Place], bool]:
        """Return the question whether a place lies in a group of schemas or in what they refer to."""
        layers = [each.at for each in self._schemas.layers(*group) if isinstance(each, Schema)]
        return lambda at: any(
            at.file == each.file and at.pointer[: len(each.pointer)] == each.pointer for each in layers
        )

    def _explain(self, group: Group) -> Void:
        """Return why schemas leave no combination: one is `false`, two ask for other types, all alternatives clash."""
        layers = [each for each in self._schemas.layers(*group) if isinstance(each, Schema)]
        barred = next((each.at for each in layers if each.value is False), None)
        sides = clash(self._schemas, group) if barred is None else None
        if sides is not None:
            return _type_place(sides[1]), _type_place(sides[0])
        choosing = (
            each.at / key for each in layers for key in ("oneOf", "anyOf", "if") if key in object_of(each.value)
        )
        return barred or next(choosing, group[0].at), None


Void = tuple[Place, Place | None]
"""The keyword that leaves nothing, and the one that contradicts it."""


def _put(here: Conflict, void: Void) -> Conflict:
    return replace(here, at=void[0], against=void[1])


def _type_place(schema: Schema) -> Place:
    """Return the keyword by which a schema decides about types."""
    keyword = next((each for each in ("type", "const", "enum") if each in object_of(schema.value)), None)
    return schema.at if keyword is None else schema.at / keyword


@value
class _VoidFinder:
    """Finds out why a combination of schemas leaves no value."""

    schemas: Schemas
    combination: Combination

    def find(self) -> Void | None:
        """Return why the values that schemas list, the bounds they set, or what they deny leave nothing."""
        listed = list_values(self.combination)
        if listed is not None:  # those that are denied are not among them
            return None if any(admits(self.combination, each) for each in listed) else self._explain_lists()
        bounds = (each for each in _BOUNDS if self.combination.types is not None and self.combination.types <= each[0])
        found = next((void for _, low, high in bounds if (void := self._find_crossed(low, high))), None)
        if found is None and self.combination.types == frozenset({"object"}):
            found = self._find_miscount()
        elif found is None:
            counted = count_out(self.combination)
            is_empty = counted is not None and not any(admits(self.combination, each) for each in counted)
            naming = (each.at / key for key in _COUNTING for each, body in self._bodies() if key in body)
            found = (next(naming, self.combination.layers[0].at), None) if is_empty else None
        denial = find_denial(self.schemas, self.combination) if found is None else None
        return found if denial is None else (denial, None)

    def _explain_lists(self) -> Void:
        """Return a list of values, and what rules out all of them by itself."""
        listing = [(layer, body) for layer, body in self._bodies() if next(lists(body), None) is not None]
        if not listing:  # the few values of a type, which something else rules out
            return next(((each.at / "type", None) for each, body in self._bodies() if "type" in body))
        layer, body = listing[0]
        given = next(lists(body))
        at = layer.at / ("enum" if isinstance(body.get("enum"), list) else "const")
        for other, constraints in self._bodies():
            for keyword in constraints:
                if other.at / keyword != at and _rules_out(keyword, constraints, given):
                    return at, other.at / keyword
        return at, None

    def _find_crossed(self, low: str, high: str) -> Void | None:
        least, most = self._bounds(low), self._bounds(high)
        above, below = self._bounds("exclusiveMinimum"), self._bounds("exclusiveMaximum")
        if low != "minimum":
            above = below = []
        crossed = ((one, other) for one in least for other in most if one[0] > other[0])
        touched = ((one, other) for one in (*least, *above) for other in below if one[0] >= other[0])
        left = ((one, other) for one in above for other in most if one[0] >= other[0])
        return next(((one[1], other[1]) for pairs in (crossed, touched, left) for one, other in pairs), None)

    def _find_miscount(self) -> Void | None:
        """Return why an object can never have the right number of members."""
        for most, at in self._bounds("maxProperties"):
            if len(self.combination.required) > most:
                wanted = (each.at / "required" for each, body in self._bodies() if "required" in body)
                return at, next(wanted, None)
        lowest = list(self._bounds("minProperties"))
        few = self._find_fewest() if lowest else None
        return next(((at, few[1]) for least, at in lowest if few is not None and few[0] < least), None)

    def _find_fewest(self) -> tuple[int, Place] | None:
        """Return how many members the layer leaves that allows the fewest, and what closes it."""
        found: list[tuple[int, Place]] = []
        for layer, body in self._bodies():
            if body.get("additionalProperties") is False and not body.get("patternProperties"):
                allowed = sum(
                    not member(self.combination, name).forbidden for name in object_of(body.get("properties"))
                )
                found.append((allowed, layer.at / "additionalProperties"))
        return min(found, key=lambda each: each[0], default=None)

    def find_demand(self, name: str) -> Place:
        """Return the place that demands a member, or an element, of a combination."""
        for each in self.combination.layers:
            wanted = list_of(object_of(each.value).get("required"))
            if name in wanted:
                return each.at / "required" / wanted.index(name)
        least = (each.at / "minItems" for each in self.combination.layers if "minItems" in object_of(each.value))
        return next(least, self.combination.layers[0].at)

    def find_bar(self, name: str) -> Place | None:
        """Return the place that forbids a member, or an element."""
        for each in self.combination.layers:
            body = object_of(each.value)
            if object_of(body.get("properties")).get(name) is False:
                return each.at / "properties" / name
        closed = ((each, key) for key in _CLOSING for each in self.combination.layers)
        return next((each.at / key for each, key in closed if object_of(each.value).get(key) in (False, 0)), None)

    def _bounds(self, key: str) -> list[tuple[int | float, Place]]:
        """Return the bounds of one kind that a combination sets, each with its place."""
        given = ((read_bound(body, key), each) for each, body in self._bodies() if key in body)
        return [(found, each.at / key) for found, each in given if found is not None]

    def _bodies(self) -> Iterator[tuple[Schema, Object]]:
        return ((each, each.value) for each in self.combination.layers if isinstance(each.value, dict))


_COUNTING = ("minimum", "exclusiveMinimum", "pattern")
"""Keywords that may leave few values."""
_CLOSING = ("additionalProperties", "unevaluatedProperties", "maxItems", "items", "additionalItems")
_BOUNDS = (
    ({"integer", "number"}, "minimum", "maximum"),
    ({"string"}, "minLength", "maxLength"),
    ({"array"}, "minItems", "maxItems"),
    ({"object"}, "minProperties", "maxProperties"),
)


def _rules_out(keyword: str, body: Object, given: list[Json]) -> bool:
    """Tell whether a keyword alone leaves none of some values."""
    alone = {keyword: body[keyword]}
    types, named = types_of(alone), [*lists(alone)]
    limits = Combination((Schema(alone, Place("")),), None, whole=True)
    fitting = (each for each in given if (types is None or type_of(each) in types) and admits(limits, each))
    return not any(all(each in listed for listed in named) for each in fitting)


def list_possible(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return the combinations of schemas that some value may satisfy, None when there are too many.

    A single remaining combination is not examined: for a schema that nothing satisfies the answer stays the same.
    """
    every = tuple(group)
    possible = combinations(schemas, every)
    if possible is None or not any(each.is_alternative for each in possible):
        return possible
    key = ("possible", *map(id, possible))
    return schemas.memo.once(
        key, lambda: (tuple(_settle(schemas, each) for each in _leave(schemas, possible)), possible)
    )[0]


def list_left(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return the combinations of `list_possible` with all that they deny."""
    possible = combinations(schemas, group)
    if possible is None or not any(each.is_alternative for each in possible):
        return possible
    key = ("left", *map(id, possible))
    return schemas.memo.once(key, lambda: (_leave(schemas, possible), possible))[0]


def denies_on_way(schemas: Schemas, schema: Schema, path: Sequence[str]) -> bool:
    """Tell whether something is denied of one of the objects through which a path leads."""
    left = [*(list_left(schemas, as_object(schema)) or ())]
    for name in path[:-1]:
        if any(any(list_denied(each)) for each in left):
            return True
        inside = (member(each, name).parts for each in left[:_CONFLICT_MOST])
        groups = {tuple(each.at for each in parts): parts for parts in inside}.values()
        left = [each for group in groups for each in list_left(schemas, group) or ()]
    return any(any(list_denied(each)) for each in left)


_CONFLICT_MOST = 256
"""So many ways through alternatives are followed at once."""


def _leave(schemas: Schemas, possible: tuple[Combination, ...]) -> tuple[Combination, ...]:
    return tuple(each for each in possible if not is_void(schemas, each)) or possible


def _settle(schemas: Schemas, combination: Combination) -> Combination:
    """Return a combination without what it denies needlessly."""
    if list_values(combination) is not None:
        return combination
    layers = []
    for each in combination.layers:
        body = object_of(each.value)
        denied = judge_denied(schemas, combination, Schema(body["not"], each.at / "not")) if "not" in body else None
        kept = {key: inner for key, inner in body.items() if key != "not"}
        layers.append(Schema(kept, each.at) if denied is False else each)
    same = all(one is other for one, other in zip(layers, combination.layers, strict=True))
    return combination if same else Combination(tuple(layers), combination.types, whole=combination.whole)
