"""What can stand at several paths of one value together: every combination that a schema leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from stagec.contract.choices import FEW, admits, bodies_of, identity, list_values, numbers
from stagec.contract.combinations import Combination, as_object, combinations
from stagec.contract.member import is_barred, member
from stagec.contract.schemas import Schema, Schemas
from stagec.core.budgets import AnswerBudgets
from stagec.core.json import Json
from stagec.core.value import NOTHING, value

Path = tuple[str, ...]


@value
class PathValue:
    """What stands at a path: nothing, one of the values somebody asks for, or something else.

    Of something else, `given` is an example where the schema names one.
    """

    present: bool
    asked: bool = False
    given: Json = None
    exemplary: bool = False


ABSENT = PathValue(False)
OTHER = PathValue(True)

Variant = Mapping[Path, PathValue]


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
    """Return what can stand at some paths of an object, given the values that matter at each; None when too much can.

    Without a schema anything can. Of a path that is longer than any answer is deep, nothing can be said.
    """
    if any(len(path) > AnswerBudgets().depth for path in asked):
        return None
    search = _Search(schemas)
    group = as_object(schema) if schema is not None else ()
    try:
        found = search.below(group, _tree(asked))
    except _TooManyError:
        return None
    return Variants(tuple(found), search.exact, search.whole)


MOST = 20_000
"""So many combinations are looked at."""
LARGEST = 50 * MOST
"""So much may stand in all of them together."""


class _TooManyError(Exception):
    """There are more combinations than are looked at."""


@value
class _Wanted:
    """One part of the paths: the path up to here, the values asked for if it ends here, and the parts below."""

    path: Path
    values: tuple[Json, ...] | None
    inside: Mapping[str, _Wanted] = NOTHING


def _tree(asked: Mapping[Path, Iterable[Json]], path: Path = ()) -> _Wanted:
    """Return the paths as a tree, going over those below each part once."""
    below: dict[str, dict[Path, Iterable[Json]]] = {}
    for each, given in asked.items():
        if len(each) > len(path):
            below.setdefault(each[len(path)], {})[each] = given
    values = tuple(asked[path]) if path in asked else None
    return _Wanted(path, values, {name: _tree(inside, (*path, name)) for name, inside in below.items()})


class _Search:
    """Follows paths into one schema and keeps in mind whether everything could be followed."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self.exact = True
        self.whole = True
        self._left = MOST

    def below(self, group: tuple[Schema, ...], wanted: _Wanted) -> list[Variant]:
        """Return what can stand at the wanted paths when the value at the first of them is there."""
        possible = combinations(self._schemas, group)
        if possible is None:
            raise _TooManyError
        found: dict[frozenset[tuple[Path, object]], Variant] = {}
        self._left -= len(possible)
        if self._left < 0:  # two ways at each level double, also where few of them differ in the end
            raise _TooManyError
        for each in possible:
            self.whole = self.whole and each.whole
            self.exact = self.exact and each.whole and not _is_involved(each)
            for variant in self._of(each, wanted):
                found.setdefault(frozenset(_hashable(variant)), variant)
                if len(found) > MOST:
                    raise _TooManyError
        return list(found.values())

    def _of(self, combination: Combination, wanted: _Wanted) -> Iterator[Variant]:
        if is_barred(self._schemas, combination):
            return
        nothing = dict(_absent(wanted))
        nothing.pop(wanted.path, None)
        for standing in _list_values(combination, wanted.values) if wanted.values is not None else (None,):
            own = {wanted.path: standing} if standing is not None else {}
            if standing is not None and standing.asked:
                yield own | nothing
                continue
            if wanted.inside and _may_have_members(combination):
                yield from (own | below for below in self._members(combination, wanted))
            if not wanted.inside or _may_be_plain(combination):
                yield own | nothing

    def _members(self, combination: Combination, wanted: _Wanted) -> Iterator[dict[Path, PathValue]]:
        options: list[list[Variant]] = []
        many = 1
        for name, each in wanted.inside.items():
            options.append(self._member(combination, name, each))
            many *= len(options[-1])
            if many > MOST or many * len(wanted.inside) > LARGEST:
                raise _TooManyError
        for chosen in product(*options):
            yield {path: standing for each in chosen for path, standing in each.items()}

    def _member(self, combination: Combination, name: str, wanted: _Wanted) -> list[Variant]:
        found = member(combination, name)
        self.exact = self.exact and found.whole
        there = [] if found.forbidden else self.below(found.parts if found.whole else (), wanted)
        if found.required:
            return there
        nothing: Variant = dict(_absent(wanted))
        return [*there, nothing] if found.parts else [nothing, *there]


def _absent(wanted: _Wanted) -> Iterator[tuple[Path, PathValue]]:
    if wanted.values is not None:
        yield wanted.path, ABSENT
    for each in wanted.inside.values():
        yield from _absent(each)


def _hashable(variant: Variant) -> Iterator[tuple[Path, object]]:
    for path, each in variant.items():
        yield path, (each.present, each.asked, identity(each.given) if each.asked else None)


_WITH_MEMBERS = frozenset({"object", "array"})


def _may_have_members(combination: Combination) -> bool:
    return combination.types is None or not _WITH_MEMBERS.isdisjoint(combination.types)


def _may_be_plain(combination: Combination) -> bool:
    """Tell whether a value may be without members; a schema that only speaks of them does not ask for them."""
    return combination.types is None or not combination.types <= _WITH_MEMBERS


_LONGEST_RANGE = 64
"""Whole numbers between two bounds that are counted out."""


def _list_values(combination: Combination, asked: tuple[Json, ...]) -> Iterator[PathValue]:
    listed = list_values(combination)
    listed = count_out(combination) if listed is None else listed
    if listed is None:
        yield from (PathValue(True, True, each) for each in asked if admits(combination, each))
        yield OTHER
        return
    listed = [each for each in listed if admits(combination, each)]
    known = frozenset(map(identity, listed))
    yield from (PathValue(True, True, each) for each in asked if identity(each) in known)
    rest = known.difference(map(identity, asked))
    yield from [PathValue(True, False, each, True) for each in listed if identity(each) in rest][:1]


def count_out(combination: Combination) -> list[Json] | None:
    """Return all values that types and bounds leave, None when they are too many."""
    kinds = [_all_of(combination, each) for each in sorted(combination.types or ("any",))]
    return None if None in kinds else [each for kind in kinds if kind is not None for each in kind]


def _all_of(combination: Combination, kind: str) -> list[Json] | None:
    if kind == "integer":
        return _whole_numbers(combination)
    if kind == "string":
        return [""] if 0 in numbers(combination, "maxLength") else None
    return [*FEW[kind]] if kind in FEW else None


def _whole_numbers(combination: Combination) -> list[Json] | None:
    least = [-(-low // 1) for low in numbers(combination, "minimum")]
    least += [low // 1 + 1 for low in numbers(combination, "exclusiveMinimum")]
    most = [high // 1 for high in numbers(combination, "maximum")]
    most += [-(-high // 1) - 1 for high in numbers(combination, "exclusiveMaximum")]
    if not least or not most or min(most) - max(least) >= _LONGEST_RANGE:
        return None
    return list(range(int(max(least)), int(min(most)) + 1))


_INVOLVED = frozenset(
    {
        *("not", "if", "oneOf", "dependencies", "dependentRequired", "dependentSchemas", "contains", "propertyNames"),
        *("pattern", "format", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "$dynamicRef"),
        *("$recursiveRef", "contentEncoding", "contentMediaType"),
    }
)
"""What can rule out more than is looked at."""


def _is_involved(combination: Combination) -> bool:
    return any(not _INVOLVED.isdisjoint(body) for body in bodies_of(combination))
