"""What can stand at several paths of one value together: every combination that a schema leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from stagec.contract.choices import identity
from stagec.contract.combinations import MOST_DENIED, Combination, as_object, follows_dependents
from stagec.contract.denials import list_left
from stagec.contract.extent import admits, bodies_of, count_out, list_values
from stagec.contract.member import is_barred, member
from stagec.contract.negations import list_denied
from stagec.contract.schemas import Schema, Schemas
from stagec.contract.standings import ABSENT, OTHER, Path, PathValue, Variant, WantedPath, judge_variant, path_tree
from stagec.core.budgets import AnswerBudgets
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import value


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
        """Return what can stand at the wanted paths when the value at the first of them is there.

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
        for chosen in product(*options):
            yield {path: standing for each in chosen for path, standing in each.items()}

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


def _hashable(variant: Variant) -> Iterator[tuple[Path, object]]:
    for path, each in variant.items():
        yield path, (each.present, each.asked, identity(each.given) if each.asked or each.alone else None)


_WITH_MEMBERS = frozenset({"object", "array"})


def _may_be_plain(combination: Combination) -> bool:
    """Tell whether a value may be without members; a schema that only speaks of them does not ask for them."""
    return combination.types is None or not combination.types <= _WITH_MEMBERS


def _list_standings(combination: Combination, asked: tuple[Json, ...], *, apart: bool) -> Iterator[PathValue]:
    listed = list_values(combination)
    listed = count_out(combination) if listed is None else listed
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
"""What can rule out more than is looked at."""


def _is_involved(combination: Combination) -> bool:
    return any(
        not _INVOLVED.isdisjoint(body)
        or len(list_of(body.get("oneOf"))) > MOST_DENIED
        or not follows_dependents(body)
        or any(isinstance(each, list) for each in object_of(body.get("dependencies")).values())
        for body in bodies_of(combination)
    )
