"""The promise of a schema for a path: whether a valid value has something there, and its possible values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Json, Object, object_of
from stagec.core.nearest import NO_NAMES, NameIndex
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.sources.contract.choices import Choices, identity
from stagec.sources.contract.combinations import Combination, as_object, clash, combinations, type_of, types_of
from stagec.sources.contract.conflict import list_possible
from stagec.sources.contract.member import MemberSchemas, member
from stagec.sources.contract.reach import admits, bodies_of, count_out, list_values, lists
from stagec.sources.contract.schemas import Miss, Schema, Schemas


class Presence(StrEnum):
    """Whether a valid value has something at a path."""

    SURE = "sure"
    """Always: the path is required at every level."""
    POSSIBLE = "possible"
    """The schema declares it, and a value may leave it out."""
    UNDECLARED = "undeclared"
    """No part of the schema speaks of it, and none forbids it."""
    IMPOSSIBLE = "impossible"
    """The schema forbids it: it is closed there, or the path leads through something that is no object."""
    UNKNOWABLE = "unknowable"
    """Cannot tell: a part of the schema cannot be read, or says something too involved."""


@value
class Promise:
    """The promise of a schema about one path.

    `ends` are the schemas of a value at the path: alternatives, each a group of schemas that hold together; a group is
    empty if no schema constrains the value. `optional` is the schema that lets the first part of the path that is not
    required be left out. `whole` tells that no part of the schema was left out. `legible` tells that no part was left
    out because it is unreadable: others are only too complex.

    For a path that breaks off, `followed` counts the parts that exist, `near` are the names declared at the break,
    `broken` are the schemas there, and `clash` are two of them that require different types.
    """

    presence: Presence
    ends: tuple[tuple[Schema, ...], ...] = ()
    optional: Schema | None = None
    followed: int = 0
    near: NameIndex = NO_NAMES
    whole: bool = True
    legible: bool = True
    clash: tuple[Schema, Schema] | None = None
    broken: tuple[Schema, ...] = ()


@value
class _Way:
    """One choice of alternatives down to a part of the path; `sure` means required at every level so far."""

    group: tuple[Schema, ...]
    optional: Schema | None = None
    sure: bool = True
    whole: bool = True

    def step(self, combination: Combination, found: MemberSchemas) -> _Step:
        """Return the step to a member of what the way has come to."""
        whole, optional = self.whole and found.whole, self.optional
        if found.forbidden:
            return _Step(self, combination, Presence.IMPOSSIBLE)
        if not found.parts and not found.required:
            return _Step(self, combination, Presence.UNDECLARED if whole else Presence.UNKNOWABLE)
        if optional is None and not found.required and found.certain and self.whole:
            optional = combination.layers[0]
        return _Step(_Way(found.parts, optional, self.sure and found.required, whole), combination)

    def identify(self) -> tuple[object, ...]:
        """Return the key that equal ways share."""
        return tuple(each.at for each in self.group), self.optional and self.optional.at, self.sure, self.whole


def promise(
    schemas: Schemas, schema: Schema, path: Iterable[str], *, of_object: bool = False, given: Given | None = None
) -> Promise:
    """Return the promise of a schema for a path of member names; `of_object` if it is about objects only.

    `given` is a value that is known to stand at another path.
    """
    group = as_object(schema) if of_object else (schema,)
    group = group if given is None else (*group, _state(schema, *given))
    return promise_of(schemas, (group,), path)


def promise_of(schemas: Schemas, groups: Iterable[tuple[Schema, ...]], path: Iterable[str]) -> Promise:
    """Return the promise of schemas for a path: alternatives, each a group that holds together."""
    ways = tuple(map(_Way, groups))
    ended: dict[Presence, Schema | None] = {}
    legible = True
    for followed, name in enumerate(path):
        steps = _steps(schemas, ways, name)
        if steps is None:
            return Promise(Presence.UNKNOWABLE, followed=followed, whole=False, legible=legible)
        legible = legible and all(step.combination.whole for step in steps)
        ended = {step.end: next(iter(step.combination.layers), None) for step in steps if step.end is not None} | ended
        going = {step.way.identify(): step.way for step in steps if step.end is None}
        if not going:
            near = _list_declared(schemas, [step.combination for step in steps])
            # what a path is that no alternative follows to its end
            unsure = (each for each in (Presence.UNKNOWABLE, Presence.UNDECLARED) if each in ended)
            judged = next(unsure, Presence.IMPOSSIBLE)
            clashes = (each for way in ways if not steps and (each := clash(schemas, way.group)))
            found = Promise(judged, (), None, followed, near, clash=next(clashes, None))
            # the schemas that speak of a part of a path, and what applies together with them
            every = schemas.layers(*(each for way in ways for each in way.group))
            there = (each for each in every if isinstance(each, Schema))
            return replace(found, legible=legible, broken=tuple(there))
        ways = tuple(going.values())
    return replace(_conclude(ways, ended), legible=legible)


Given = tuple[tuple[str, ...], str]
"""A path of member names, and the text that stands there."""


def _state(schema: Schema, path: tuple[str, ...], given: str) -> Schema:
    """Return the schema that says that a text stands at a path."""
    body: Object = {"enum": [given]}
    for name in reversed(path):
        body = {"type": "object", "required": [name], "properties": {name: body}}
    return Schema(body, schema.at / "{given}")


@value
class _Step:
    """One part of a path on one way: further on `way`, or an end."""

    way: _Way
    combination: Combination
    end: Presence | None = None


_MOST = 256
"""So many ways through alternatives are followed at once."""


def _steps(schemas: Schemas, ways: tuple[_Way, ...], name: str) -> list[_Step] | None:
    """Go one part further on every way; None when there are too many."""
    found: list[_Step] = []
    for way in ways:
        possible = list_possible(schemas, way.group)
        if possible is None or len(found) + len(possible) > _MOST:
            return None
        found.extend(way.step(each, member(each, name)) for each in possible)
    return found


def _list_declared(schemas: Schemas, possible: list[Combination]) -> NameIndex:
    """Return the members that any of some combinations declares, indexed once however many paths break off there."""
    if len(possible) <= 1:
        return possible[0].declared if possible else NO_NAMES
    key = ("declared", *map(id, possible))
    every = (name for each in possible for name in each.declared)
    return schemas.memo.once(key, lambda: (NameIndex(every), possible))[0]


def _conclude(ways: tuple[_Way, ...], ended: Mapping[Presence, Schema | None]) -> Promise:
    """Return the promise on the ways that reach the end of the path; other ways may end before it."""
    optional = next((way.optional for way in ways if way.optional is not None), None)
    short = [schema for end, schema in ended.items() if end is not Presence.UNKNOWABLE]
    whole = all(way.whole for way in ways) and Presence.UNKNOWABLE not in ended
    presence = Presence.SURE if not ended and all(way.sure for way in ways) else Presence.UNKNOWABLE
    if optional is not None or short:
        presence, optional = Presence.POSSIBLE, optional or short[0]
    elsewhere = ((),) if ended.keys() - {Presence.IMPOSSIBLE} else ()  # there anything can stand at the path
    return Promise(presence, (*(way.group for way in ways), *elsewhere), optional, whole=whole)


def possible_values(schemas: Schemas, promised: Promise, *, counts: bool = False) -> tuple[Json, ...] | Miss:
    """Return the values that can stand at a promised path; `Miss.NO_MEMBER` when they are not named one by one.

    With `counts`, those are named, too, that bounds or a pattern leave, if they are few.
    """
    found: dict[tuple[object, ...], Json] = {}
    for group in promised.ends:
        possible = list_possible(schemas, group)
        if possible is None:
            return _say_unnamed(promised, whole=False)
        for each in possible:
            listed = list_values(each)
            listed = count_out(each) if listed is None and counts else listed
            if listed is None:
                return _say_unnamed(promised, whole=promised.whole) if each.whole else Miss.UNKNOWABLE
            found.update((identity(one), one) for one in listed if identity(one) not in found)
    return tuple(found.values()) if promised.ends else Miss.NO_MEMBER


@value
class Blank:
    """Null or the empty text where it can stand at a promised path; `is_named` tells that the schema names it."""

    given: Json
    is_named: bool


def find_blank(schemas: Schemas, promised: Promise) -> Blank | None:
    """Return null or the empty text if it can stand at a promised path, rather one that the schema names."""
    every = (each for group in promised.ends for each in list_possible(schemas, group) or ())
    found = [blank for each in every for blank in _list_blank(each)]
    return next((each for each in found if each.is_named), found[0] if found else None)


def _list_blank(combination: Combination) -> Iterator[Blank]:
    """Yield the blank values that a combination leaves; a pattern is taken to exclude the empty text."""
    listed = list_values(combination)
    is_bound = any("pattern" in each for each in bodies_of(combination))
    for given in (None, *(() if is_bound else ("",))):
        if (listed is None or given in listed) and admits(combination, given):
            yield Blank(
                given, combination.whole and (listed is not None or (given is None and bool(combination.types)))
            )


def _say_unnamed(promised: Promise, *, whole: bool) -> Miss:
    if whole:
        return Miss.NO_MEMBER
    return Miss.INVOLVED if promised.legible else Miss.UNKNOWABLE


@value
class Excluded:
    """A value that one list names and another part of the schema rules out; `by` is that part where it is known."""

    given: Json
    at: Place
    by: Place | None


def find_excluded(schemas: Schemas, offered: Choices, promised: Promise) -> tuple[Excluded, ...]:
    """Return the values of a list that can never stand at a promised path."""
    possible = possible_values(schemas, promised)
    if isinstance(possible, Miss):
        return ()
    known = frozenset(map(identity, possible))
    lost = [(each, at) for each, at in offered.values if identity(each) not in known]
    return tuple(Excluded(each, at, _excluder(schemas, promised, each)) for each, at in lost)


def _excluder(schemas: Schemas, promised: Promise, given: Json) -> Place | None:
    possible = [each for group in promised.ends for each in combinations(schemas, group) or ()]
    for layer in (layer for each in possible for layer in each.layers):
        types = types_of(layer.value) if isinstance(layer.value, dict) else None
        is_listed = all(identity(given) in map(identity, listed) for listed in lists(object_of(layer.value)))
        if (types is not None and type_of(given) not in types) or not is_listed:
            return layer.at
    return None
