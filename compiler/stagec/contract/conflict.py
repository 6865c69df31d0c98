"""Whether what one schema offers can ever be what another one demands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.contract.choices import list_values
from stagec.contract.combinations import Combination, combinations
from stagec.contract.member import list_needed
from stagec.contract.schemas import Schema, Schemas
from stagec.contract.variants import admits, numbers
from stagec.core.place import Place
from stagec.core.value import value

Group = tuple[Schema, ...]

_DEEPEST = 16
"""So many members inside each other are compared."""


@value
class Conflict:
    """The path at which nothing can be both, and the parts of the two schemas that say so."""

    path: tuple[str, ...]
    offered: Place
    demanded: Place


def conflict(
    schemas: Schemas, offered: Schema, demanded: Schema, stand_ins: Mapping[Place, Schema] | None = None
) -> Conflict | None:
    """Return why no value fits both schemas; nothing when one may, or it cannot be told, or none fits what is offered.

    `stand_ins` are schemas that stand for parts of others, by the place of the part.
    """
    search = _Search(schemas, stand_ins or {})
    found = search.conflict((offered,), (demanded,), ())
    return found if found is None or search.conflict((offered,), (), ()) is None else None


def emptiness(schemas: Schemas, schema: Schema) -> Conflict | None:
    """Return why no object satisfies a schema; nothing when one may, or it cannot be told."""
    return _Search(schemas, {}).conflict((schema,), (), ())


class _Search:
    """Goes down both schemas along the members that have to be there."""

    def __init__(self, schemas: Schemas, stand_ins: Mapping[Place, Schema]) -> None:
        self._schemas = schemas
        self._stand_ins = stand_ins

    def conflict(self, offered: Group, demanded: Group, path: tuple[str, ...]) -> Conflict | None:
        """Return why nothing fits all schemas of both groups; in every alternative there has to be a reason."""
        group = (*offered, *demanded)
        possible = combinations(self._schemas, group) if len(path) < _DEEPEST else None
        if possible is None:
            return None
        here = Conflict(path, (offered or group)[0].at, (demanded or group)[0].at) if group else None
        if not possible:
            return here
        reasons = [here if _is_empty(each) else self._inside(each, offered, demanded, path) for each in possible]
        return reasons[0] if None not in reasons else None

    def _inside(
        self, combination: Combination, offered: Group, demanded: Group, path: tuple[str, ...]
    ) -> Conflict | None:
        """Return why a member that has to be there can be nothing; what is not demanded contradicts no demand."""
        wants = self._reach(demanded)
        for name, found in list_needed(combination):
            inside = (*path, name)
            if found.forbidden:
                return Conflict(inside, (offered or demanded)[0].at, (demanded or offered)[0].at)
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


_BOUNDS = (
    ({"integer", "number"}, "minimum", "maximum"),
    ({"string"}, "minLength", "maxLength"),
    ({"array"}, "minItems", "maxItems"),
    ({"object"}, "minProperties", "maxProperties"),
)


def _is_empty(combination: Combination) -> bool:
    """Tell whether the values that schemas list, or the bounds they set, leave nothing."""
    listed = list_values(combination)
    if listed is not None:
        return not any(admits(combination, each) for each in listed)
    bounds = (each for each in _BOUNDS if combination.types is not None and combination.types <= each[0])
    return any(_is_crossed(combination, low, high) for _, low, high in bounds)


def _is_crossed(combination: Combination, low: str, high: str) -> bool:
    least, most = numbers(combination, low), numbers(combination, high)
    above, below = numbers(combination, "exclusiveMinimum"), numbers(combination, "exclusiveMaximum")
    if low != "minimum":
        above = below = []
    crossed = any(one > other for one in least for other in most)
    touched = any(one >= other for one in (*least, *above) for other in below)
    return crossed or touched or any(one >= other for one in above for other in most)
