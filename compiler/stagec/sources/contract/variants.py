"""Combinations of values that a schema allows at several paths of one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from stagec.core.budgets import AnswerBudgets
from stagec.core.json import MISSING, Json, Object, follow, list_of, object_of
from stagec.core.value import NOTHING, value
from stagec.sources.contract.choices import identity
from stagec.sources.contract.combinations import MOST_DENIED, Combination, as_object, follows_dependents, types_of
from stagec.sources.contract.conflict import judge_member, judge_required, list_denied, list_left
from stagec.sources.contract.member import is_barred, member
from stagec.sources.contract.reach import admits, bodies_of, count_out, fits_extent, list_values, lists, numbers
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS

Path = tuple[str, ...]


@value
class PathValue:
    """The value at a path: none, one of the values asked for, or another one.

    Of something else, `given` is an example where the schema names one.
    """

    present: bool
    asked: bool = False
    given: Json = None
    exemplary: bool = False
    alone: bool = False
    """Whether nothing but `given` is meant."""


ABSENT = PathValue(False)
OTHER = PathValue(True)


Variant = Mapping[Path, PathValue]


@value
class WantedPath:
    """One part of the paths: the path up to here, the values asked for if it ends here, and the parts below."""

    path: Path
    values: tuple[Json, ...] | None
    inside: Mapping[str, WantedPath] = NOTHING


def path_tree(asked: Mapping[Path, Iterable[Json]], path: Path = ()) -> WantedPath:
    """Return the paths as a tree, going over those below each part once."""
    below: dict[str, dict[Path, Iterable[Json]]] = {}
    for each, given in asked.items():
        if len(each) > len(path):
            below.setdefault(each[len(path)], {})[each] = given
    values = tuple(asked[path]) if path in asked else None
    return WantedPath(path, values, {name: path_tree(inside, (*path, name)) for name, inside in below.items()})


def judge_variant(
    schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath, combination: Combination | None = None
) -> bool | None:
    """Tell whether all values of a variant satisfy a schema, or none does; None where it depends or is involved.

    What nobody asks about, the combination of which it is a variant may tell.
    """
    found: list[bool | None] = []
    for each in schemas.layers(schema):
        if not isinstance(each, Schema) or not isinstance(each.value, dict):
            found.append(each.value if isinstance(each, Schema) and isinstance(each.value, bool) else None)
        elif (standing := variant.get(wanted.path)) is not None and (standing.asked or standing.alone):
            alone = {key: inner for key, inner in each.value.items() if key not in _FOLLOWED}
            found.append(fits_extent(alone, standing.given))
        else:
            found += _judge_keywords(schemas, each, variant, wanted, combination)
    return False if False in found else None if None in found else True


_FOLLOWED = frozenset({"allOf", "$ref"})
"""Keywords whose schemas are layers of their own."""


def _judge_keywords(
    schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath, combination: Combination | None
) -> Iterator[bool | None]:
    for key, given in object_of(schema.value).items():
        if key == "properties":
            parts = ((name, Schema(inner, schema.at / key / name)) for name, inner in object_of(given).items())
            judged = ((each, _judge_member(schemas, each[1], variant, wanted.inside.get(each[0]))) for each in parts)
            yield from (
                judge_member(schemas, combination, *each) if found is None and combination is not None else found
                for each, found in judged
            )
        elif key == "required":
            yield from (_judge_required(name, variant, wanted, combination) for name in list_of(given))
        elif key == "type":
            types = types_of({"type": given})
            is_object = any(_is_there(variant, each) for name, each in wanted.inside.items() if not name.isdigit())
            yield "object" in types if is_object and types is not None else None
        elif key in {"enum", "const"}:
            yield _judge_list([one for each in lists({key: given}) for one in each], variant, wanted)
        elif key in KEYWORDS and key not in REMARKS and key not in _FOLLOWED:
            yield None


def _judge_member(schemas: Schemas, schema: Schema, variant: Variant, wanted: WantedPath | None) -> bool | None:
    there = None if wanted is None else _is_there(variant, wanted)
    if there is False or schema.value is True:
        return True
    judged = None if wanted is None else judge_variant(schemas, schema, variant, wanted)
    return judged if there or judged else None


def _judge_required(name: Json, variant: Variant, wanted: WantedPath, combination: Combination | None) -> bool | None:
    inside = wanted.inside.get(name) if isinstance(name, str) else None
    there = None if inside is None else _is_there(variant, inside)
    return there if there is not None or combination is None else judge_required(combination, [name])


def _judge_list(listed: list[Json], variant: Variant, wanted: WantedPath) -> bool | None:
    """Tell that a value outside a list is none of its values, if conditions ask for each of them."""
    if wanted.values is None or wanted.path not in variant:
        return None
    known = frozenset(map(identity, wanted.values))
    return False if all(identity(each) in known for each in listed) else None


def _is_there(variant: Variant, wanted: WantedPath) -> bool | None:
    """Tell whether a value is there, from what stands at its path and below; None where nobody has asked."""
    standing = variant.get(wanted.path)
    if standing is not None:
        return standing.present
    return True if any(_is_there(variant, each) for each in wanted.inside.values()) else None


@value
class Variants:
    """The combinations of what can stand at some paths: no value has another one.

    `exact` tells that there is a value for each, as far as schemas are followed at all; `whole` that every part of the
    schema could be read.
    """

    found: tuple[Variant, ...]
    exact: bool = True
    whole: bool = True


def variants(schemas: Schemas, schema: Schema | None, asked: Mapping[Path, Iterable[Json]]) -> Variants | None:
    """Return the possible values at some paths of an object, given the values that matter at each; None if too many.

    Without a schema anything can. Of a path that is longer than any answer is deep, nothing can be said.
    """
    if any(len(path) > AnswerBudgets().depth for path in asked):
        return None
    search = _Search(schemas)
    group = as_object(schema) if schema is not None else ()
    try:
        found = search.below(group, path_tree(asked))
    except _TooManyError:
        return None
    return Variants(tuple(found), search.exact, search.whole)


MOST = 20_000
"""So many combinations are looked at."""
LARGEST = 50 * MOST
"""So much may stand in all of them together."""


class _TooManyError(Exception):
    """There are more combinations than are looked at."""


class _Search:
    """Follows paths into one schema and keeps in mind whether everything could be followed."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self.exact = True
        self.whole = True
        self._left = MOST
        self._patience = _PATIENCE

    def below(self, group: tuple[Schema, ...], wanted: WantedPath, *, apart: bool = False) -> list[Variant]:
        """Return the possible values at the wanted paths if the value at the first of them is there.

        `apart` asks for every value that nobody asks for by itself, as far as they are few.
        """
        possible = list_left(self._schemas, group)
        if possible is None:
            raise _TooManyError
        found: dict[frozenset[tuple[Path, object]], Variant] = {}
        self._left -= len(possible)
        if self._left < 0:  # two ways at each level double, also where few of them differ in the end
            raise _TooManyError
        for each in possible:
            self.whole = self.whole and each.whole
            self.exact = self.exact and each.whole and not _is_involved(each)
            denied = tuple(list_denied(each))
            for variant in self._of(each, wanted, apart=apart or bool(denied)):
                if denied and self._is_denied(each, denied, variant, wanted):
                    continue
                found.setdefault(frozenset(_hashable(variant)), variant)
                if len(found) > MOST:
                    raise _TooManyError
        return list(found.values())

    def _of(self, combination: Combination, wanted: WantedPath, *, apart: bool) -> Iterator[Variant]:
        if is_barred(combination):
            return
        listed = list_values(combination) if wanted.inside else None
        if listed is not None and any(isinstance(each, dict | list) for each in listed):
            known = [each for each in listed if admits(combination, each)]
            self.exact = self.exact and not any(_has_more(body) for body in bodies_of(combination))
            yield from (dict(_follow(each, wanted, alone=apart and len(known) <= _MOST_APART)) for each in known)
            return
        nothing = dict(_absent(wanted))
        nothing.pop(wanted.path, None)
        is_asked = wanted.values is not None
        for standing in _list_standings(combination, wanted.values or (), apart=apart) if is_asked else (None,):
            own = {wanted.path: standing} if standing is not None else {}
            if standing is not None and standing.asked:
                yield own | nothing
                continue
            if wanted.inside and (combination.types is None or not _WITH_MEMBERS.isdisjoint(combination.types)):
                yield from (own | below for below in self._members(combination, wanted, apart=apart))
            if not wanted.inside or _may_be_plain(combination):
                yield own | nothing

    def _members(self, combination: Combination, wanted: WantedPath, *, apart: bool) -> Iterator[dict[Path, PathValue]]:
        options: list[list[Variant]] = []
        many = 1
        for name, each in wanted.inside.items():
            options.append(self._member(combination, name, each, apart=apart))
            many *= len(options[-1])
            if many > MOST or many * len(wanted.inside) > LARGEST:
                raise _TooManyError
        least = max(numbers(combination, "minProperties"), default=0)
        others = _count_others(combination, wanted) if least else None
        for chosen in product(*options):
            found = {path: standing for each in chosen for path, standing in each.items()}
            if others is None or others + sum(_may_be_there(found, each) for each in wanted.inside.values()) >= least:
                yield found

    def _member(self, combination: Combination, name: str, wanted: WantedPath, *, apart: bool) -> list[Variant]:
        found = member(combination, name)
        self.exact = self.exact and found.whole
        there = [] if found.forbidden else self.below(found.parts, wanted, apart=apart)
        if found.required:
            return there
        nothing: Variant = dict(_absent(wanted))
        return [*there, nothing] if found.parts else [nothing, *there]

    def _is_denied(
        self, combination: Combination, denied: tuple[Schema, ...], variant: Variant, wanted: WantedPath
    ) -> bool:
        """Tell whether a variant satisfies for sure what is denied; what it may satisfy makes the search inexact."""
        self._patience -= len(denied)
        judged = (
            {judge_variant(self._schemas, each, variant, wanted, combination) for each in denied}
            if self._patience > 0
            else {None}
        )
        self.exact = self.exact and None not in judged
        return True in judged


_PATIENCE = 100_000
"""So many denials are compared with variants."""


def _absent(wanted: WantedPath) -> Iterator[tuple[Path, PathValue]]:
    if wanted.values is not None:
        yield wanted.path, ABSENT
    for each in wanted.inside.values():
        yield from _absent(each)


def _may_be_there(variant: Variant, wanted: WantedPath) -> bool:
    return _is_there(variant, wanted) is not False


def _count_others(combination: Combination, wanted: WantedPath) -> int | None:
    """Return how many members besides the wanted ones an object may have; None if they are any number."""
    closed = (
        object_of(body.get("properties")).keys()
        for body in bodies_of(combination)
        if body.get("additionalProperties") is False and not body.get("patternProperties")
    )
    names = next(closed, None) if combination.types == frozenset({"object"}) else None
    if names is None:
        return None
    return sum(name not in wanted.inside and not member(combination, name).forbidden for name in names)


def _follow(given: Json, wanted: WantedPath, *, alone: bool) -> Iterator[tuple[Path, PathValue]]:
    """Yield what stands at the wanted paths of a value that a schema names."""
    todo = [(given, wanted)]
    for standing, each in todo:  # grows while it is read
        if each.values is not None and standing is MISSING:
            yield each.path, ABSENT
        elif each.values is not None:
            is_asked = identity(standing) in map(identity, each.values)
            other = PathValue(True, False, standing, True, alone)
            yield each.path, PathValue(True, True, standing) if is_asked else other
        todo += [(follow(standing, (name,)), inner) for name, inner in each.inside.items()]


def _has_more(body: Object) -> bool:
    """Tell whether a schema says more of a value than its type, or that it is one of a list."""
    return any(key in KEYWORDS and key not in REMARKS and key not in {"type", "enum", "const", "not"} for key in body)


def _hashable(variant: Variant) -> Iterator[tuple[Path, object]]:
    for path, each in variant.items():
        yield path, (each.present, each.asked, identity(each.given) if each.asked or each.alone else None)


_WITH_MEMBERS = frozenset({"object", "array"})


def _may_be_plain(combination: Combination) -> bool:
    """Tell whether a value may be without members; a schema that only speaks of them does not ask for them."""
    return combination.types is None or not combination.types <= _WITH_MEMBERS


def _list_standings(combination: Combination, asked: tuple[Json, ...], *, apart: bool) -> Iterator[PathValue]:
    listed = list_values(combination)
    listed = count_out(combination, len(asked)) if listed is None else listed
    if listed is None:
        yield from (PathValue(True, True, each) for each in asked if admits(combination, each))
        yield OTHER
        return
    listed = [each for each in listed if admits(combination, each)]
    known = frozenset(map(identity, listed))
    yield from (PathValue(True, True, each) for each in asked if identity(each) in known)
    unasked = known.difference(map(identity, asked))
    rest = [each for each in listed if identity(each) in unasked]
    alone = apart and len(rest) <= _MOST_APART
    yield from (PathValue(True, False, each, True, alone) for each in (rest if alone else rest[:1]))


_MOST_APART = 16
"""So many values that nobody asks for are told apart where a schema denies some of them."""


_INVOLVED = frozenset(
    {
        *("dependentRequired", "contains", "propertyNames"),
        *("pattern", "format", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "$dynamicRef"),
        *("$recursiveRef", "contentEncoding", "contentMediaType"),
    }
)
"""Keywords that can exclude more than is examined."""


def _is_involved(combination: Combination) -> bool:
    return any(
        not _INVOLVED.isdisjoint(body)
        or len(list_of(body.get("oneOf"))) > MOST_DENIED
        or not follows_dependents(body)
        or any(isinstance(each, list) for each in object_of(body.get("dependencies")).values())
        for body in bodies_of(combination)
    )
