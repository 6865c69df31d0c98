"""What one schema applies: schemas to the value itself, to members of an object, and to elements of an array."""

from __future__ import annotations

from stagec.core.json import Json, Object, list_of
from stagec.core.value import NOTHING, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@value
class Keywords:
    """What keywords look at within a value beyond the value itself, so that its size counts.

    `patterns` are found in a text and `names` in each name of a member. `texts` keywords read a text once. `whole` is
    how often everything in an object or array is looked at, and `inner` each of its members. `numbers` is what
    calculating with a number costs. `compiles` tells that a text is compiled as a pattern.
    """

    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    texts: int = 0
    whole: int = 0
    inner: int = 0
    numbers: int = 0
    compiles: bool = False


NO_KEYWORDS = Keywords()


@value
class Applied:
    """What one schema applies, as it is written.

    `work` is what the schema costs itself, `factor` how often what it applies to the same value is evaluated. `beside`
    judge the same value, `references` lead to more that does. `members` judge members by name and `others` every other
    one; `every_member` judge each member, and `member_names` each name of one. `elements` judge by index;
    `every_element` judge each element. `keywords` cost more the larger a value is.
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
    member_names: tuple[Object, ...] = ()
    keywords: Keywords = NO_KEYWORDS


_LISTS = ("allOf", "anyOf", "oneOf")
_ONES = ("not", "if", "then", "else")
_NAMED = ("dependentSchemas", "dependencies")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_ELSE = ("patternProperties", "additionalProperties", "propertyNames", "prefixItems", "additionalItems", "contains")
_APPLYING = frozenset((*_LISTS, *_ONES, *_NAMED, *_UNEVALUATED, *REFERENCES, *_ELSE, "properties", "items"))
_AGAIN = 4
"""What stands beside a keyword about unevaluated members is evaluated about three times more to find these."""


def find_applied(body: Object) -> Applied:
    """Return what a schema applies; keywords of all drafts count, whichever the schema is in."""
    keywords = NO_KEYWORDS if _SIZED.isdisjoint(body) else _keywords(body)
    if _APPLYING.isdisjoint(body):
        return Applied(1 + _work(body), keywords=keywords)
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
        tuple(_schemas([*_values(body.get("patternProperties")), *_of(body, _UNEVALUATED[0])])),
        tuple(_schemas(list_of(items) or list_of(body.get("prefixItems")))),
        tuple(_schemas([items, *_of(body, "additionalItems", "contains", _UNEVALUATED[1])])),
        tuple(_schemas(_of(body, "propertyNames"))),
        keywords,
    )


def _work(body: Object) -> int:
    """Return how much a schema lists that each value is compared with."""
    if _LISTING.isdisjoint(body):
        return 0
    listed = sum(len(each) for key, each in body.items() if key in _LISTING and isinstance(each, dict | list))
    lists = [each for key in _REQUIRING for each in _values(body.get(key)) if isinstance(each, list)]
    return listed + sum(map(len, lists))


_REQUIRING = ("dependentRequired", "dependencies")
_LISTING = frozenset(("enum", "required", "properties", "patternProperties", *_REQUIRING))
_TEXTS = ("minLength", "maxLength", "format")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_SIZED = frozenset(
    ("pattern", "patternProperties", "enum", "const", "uniqueItems", "multipleOf", *_UNEVALUATED, *_TEXTS, *_NUMBERS)
)
_UNEVALUATED_EACH = 20
"""Steps to find out of one member whether it was evaluated."""
_DIVIDING = 100
"""Steps of a division, which is exact."""
_UNIQUE = 8
"""How often all that is in an array is looked at to find two equal elements."""


def _keywords(body: Object) -> Keywords:
    pattern, named = body.get("pattern"), body.get("patternProperties")
    candidates = [*list_of(body.get("enum")), body.get("const")]
    return Keywords(
        (pattern,) if isinstance(pattern, str) else (),
        tuple(named) if isinstance(named, dict) else (),
        sum(key in body for key in _TEXTS),
        sum(isinstance(each, dict | list) for each in candidates) + _UNIQUE * (body.get("uniqueItems") is True),
        sum(_UNEVALUATED_EACH for key in _UNEVALUATED if key in body),
        sum(key in body for key in _NUMBERS) + _DIVIDING * ("multipleOf" in body),
        body.get("format") == "regex",
    )


def _of(body: Object, *keys: str) -> Iterator[Json]:
    return (body.get(key) for key in keys)


def _values(given: Json) -> Iterable[Json]:
    return given.values() if isinstance(given, dict) else ()


def _schemas(given: Iterable[Json]) -> list[Object]:
    return [each for each in given if isinstance(each, dict)]
