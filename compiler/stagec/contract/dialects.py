"""What the drafts of JSON Schema do not agree about, and how a later one says what was said in an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum

from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.sources.shape.schema import DIALECTS


class Dialect(IntEnum):
    """A draft of JSON Schema; later ones are greater."""

    FOUR = 0
    SIX = 1
    SEVEN = 2
    OF_2019 = 3
    OF_2020 = 4

    @classmethod
    def of(cls, schema: Object, outer: Dialect) -> Dialect:
        """Return the draft that a schema names, `outer` where it names none that is known."""
        named = schema.get("$schema")
        return _BY_ADDRESS.get(named.removesuffix("#"), outer) if isinstance(named, str) else outer

    @property
    def address(self) -> str:
        """What `$schema` says in this draft."""
        return f"{tuple(DIALECTS)[self]}#" if self < Dialect.OF_2019 else tuple(DIALECTS)[self]

    @property
    def hears_siblings(self) -> bool:
        """Whether validators look at what stands beside a `$ref`."""
        return self >= Dialect.OF_2019


_BY_ADDRESS = dict(zip(DIALECTS, Dialect, strict=True))
LATEST = Dialect.OF_2020
"""The draft of a schema that names none."""

_SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames"), Dialect.SIX),
    **dict.fromkeys(("if", "then", "else"), Dialect.SEVEN),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "maxContains", "minContains"), Dialect.OF_2019),
    **dict.fromkeys(("$recursiveRef", "unevaluatedItems", "unevaluatedProperties"), Dialect.OF_2019),
    **dict.fromkeys(("$dynamicRef", "prefixItems"), Dialect.OF_2020),
}
_UNTIL = {"$recursiveRef": Dialect.OF_2019, "additionalItems": Dialect.OF_2019, "dependencies": Dialect.SEVEN}
_BOUNDS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_INCLUSIVE = {exclusive: bound for bound, exclusive in _BOUNDS.items()}


def is_known(keyword: str, given: Json, draft: Dialect) -> bool:
    """Tell whether a member means something in a draft, in the form in which it is written, or nothing special."""
    if keyword == "items" and isinstance(given, list):
        return draft <= Dialect.OF_2019
    if keyword in _INCLUSIVE:
        return isinstance(given, bool) == (draft is Dialect.FOUR)
    return _SINCE.get(keyword, Dialect.FOUR) <= draft <= _UNTIL.get(keyword, LATEST)


def fits(schema: Object, own: Dialect, target: Dialect) -> bool:
    """Tell whether a schema means in one draft what it means in its own; what is inside it is not looked at."""
    if own is target:
        return True
    alike = all(is_known(key, given, own) == is_known(key, given, target) for key, given in schema.items())
    return alike and target is not Dialect.FOUR  # it has no `true` and `false` in place of schemas, and other names


@value
class Keyword:
    """A member of a schema as it is to be written: which member it was, its name now, and its value."""

    key: str
    name: str
    given: Json


def restate(schema: Object, own: Dialect, target: Dialect) -> Iterator[Keyword]:
    """Yield the members with which a later draft says what a schema says in its own; what it ignores is left out."""
    for key, given in schema.items():
        if is_known(key, given, own):
            yield from _OTHERWISE.get(key, _as_it_is)(key, schema, target)
        elif key == "dependencies":  # no draft that has replaced it forbids it, and validators still heed it
            yield Keyword(key, key, given)


def _as_it_is(key: str, schema: Object, _: Dialect) -> Iterator[Keyword]:
    yield Keyword(key, key, schema[key])


def _items(key: str, schema: Object, target: Dialect) -> Iterator[Keyword]:
    by_index = target > Dialect.OF_2019 and isinstance(schema[key], list)
    yield Keyword(key, "prefixItems" if by_index else key, schema[key])


def _further_items(key: str, schema: Object, target: Dialect) -> Iterator[Keyword]:
    if isinstance(schema.get("items"), list):
        yield Keyword(key, "items" if target > Dialect.OF_2019 else key, schema[key])


def _dependencies(key: str, schema: Object, target: Dialect) -> Iterator[Keyword]:
    given = schema[key]
    if target <= Dialect.SEVEN or not isinstance(given, dict):
        yield Keyword(key, key, given)
        return
    names = {name: each for name, each in given.items() if isinstance(each, list)}
    schemas = {name: each for name, each in given.items() if name not in names}
    yield from (Keyword(key, "dependentRequired", names),) if names else ()
    yield from (Keyword(key, "dependentSchemas", schemas),) if schemas else ()


def _bound(key: str, schema: Object, target: Dialect) -> Iterator[Keyword]:
    if target is Dialect.FOUR or schema.get(_BOUNDS[key]) is not True:
        yield Keyword(key, key, schema[key])


def _exclusive(key: str, schema: Object, target: Dialect) -> Iterator[Keyword]:
    if target is Dialect.FOUR or not isinstance(schema[key], bool):
        yield Keyword(key, key, schema[key])
    elif schema[key] and _INCLUSIVE[key] in schema:
        yield Keyword(_INCLUSIVE[key], key, schema[_INCLUSIVE[key]])


_OTHERWISE: Mapping[str, Callable[[str, Object, Dialect], Iterator[Keyword]]] = {
    "items": _items,
    "additionalItems": _further_items,
    "dependencies": _dependencies,
    **dict.fromkeys(_BOUNDS, _bound),
    **dict.fromkeys(_INCLUSIVE, _exclusive),
}
