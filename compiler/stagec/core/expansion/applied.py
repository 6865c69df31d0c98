"""What one schema applies: schemas to the value itself, to members of an object, and to elements of an array."""

from __future__ import annotations

from stagec.core.expansion.pattern_size import backtracks
from stagec.core.json import Json, Object, list_of
from stagec.core.value import NOTHING, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@value
class Applied:
    """What one schema applies, as it is written.

    `work` is what the schema costs itself, `factor` how often what it applies to the same value is evaluated. `beside`
    judge the same value, `references` lead to more that does. `members` judge members by name and `others` every other
    one; `every_member` judge each member. `elements` judge by index; `every_element` judge each element. `backtracks`
    tells that its pattern is judged by trying.
    """

    work: int = 1
    factor: int = 1
    beside: tuple[Object, ...] = ()
    references: tuple[tuple[str, str], ...] = ()
    members: Mapping[str, Object] = NOTHING
    others: Object | None = None
    every_member: tuple[Object, ...] = ()
    elements: tuple[Object, ...] = ()
    every_element: tuple[Object, ...] = ()
    backtracks: bool = False


_LISTS = ("allOf", "anyOf", "oneOf")
_ONES = ("not", "if", "then", "else")
_NAMED = ("dependentSchemas", "dependencies")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_AGAIN = 4
"""What stands beside a keyword about unevaluated members is evaluated about three times more to find these."""


def applied(body: Object) -> Applied:
    """Return what a schema applies; keywords of all drafts count, whichever the schema is in."""
    beside = [each for key in _LISTS for each in _schemas(list_of(body.get(key)))]
    beside += [each for key in _NAMED for each in _schemas(_values(body.get(key)))]
    beside += _schemas(body.get(key) for key in _ONES)
    references = tuple((key, text) for key in REFERENCES if isinstance(text := body.get(key), str))
    named = body.get("properties")
    others = body.get("additionalProperties")
    items = body.get("items")
    return Applied(
        1 + _work(body),
        _AGAIN ** sum(key in body for key in _UNEVALUATED),
        tuple(beside),
        references,
        {name: each for name, each in named.items() if isinstance(each, dict)} if isinstance(named, dict) else NOTHING,
        others if isinstance(others, dict) else None,
        tuple(_schemas([*_values(body.get("patternProperties")), *_of(body, "propertyNames", _UNEVALUATED[0])])),
        tuple(_schemas(list_of(items) or list_of(body.get("prefixItems")))),
        tuple(_schemas([items, *_of(body, "additionalItems", "contains", _UNEVALUATED[1])])),
        _tries(body),
    )


def _work(body: Object) -> int:
    """Return how much a schema lists that each value is compared with."""
    return sum(len(each) for key, each in body.items() if key in _LISTING and isinstance(each, dict | list))


_LISTING = ("enum", "required", "properties", "patternProperties", "dependentRequired", "dependencies")


def _tries(body: Object) -> bool:
    """Tell whether a text is judged by trying one way after the other, or compiled."""
    named = body.get("patternProperties")
    patterns = [body.get("pattern"), *(named if isinstance(named, dict) else ())]
    tried = any(isinstance(each, str) and backtracks(each) for each in patterns)
    return tried or body.get("format") == "regex"


def _of(body: Object, *keys: str) -> Iterator[Json]:
    return (body.get(key) for key in keys)


def _values(given: Json) -> Iterable[Json]:
    return given.values() if isinstance(given, dict) else ()


def _schemas(given: Iterable[Json]) -> list[Object]:
    return [each for each in given if isinstance(each, dict)]
