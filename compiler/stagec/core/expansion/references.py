"""The schemas that a schema applies: by its keywords, and by references to other places of itself."""

from __future__ import annotations

import re

from stagec.core.json import Json, Object, list_of
from stagec.core.value import NOTHING, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ALIKE = 8
"""Schemas of one name that a reference may mean; no text has more, and the last ones count."""


class LocalReferences:
    """The names that parts of one schema give themselves."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._base: dict[int, Json] = {}
        self._addresses: dict[str, list[Object]] = {}
        self._anchors: dict[str, list[Object]] = {}
        self._outermost: list[Object] = []
        for body, base in _bodies(root):
            self._base[id(body)] = base
            self._name(body)

    def resolve(self, body: Object, keyword: str, text: str) -> Sequence[Object]:
        """Return the schemas that a reference in a schema can mean, none where it leads nowhere inside."""
        address, _, fragment = text.partition("#")
        bases: list[Json] = self._find(address) if address else [self._base.get(id(body), self._root), self._root]
        if fragment and not fragment.startswith("/"):
            found = self._anchors.get(_decode(fragment), [])
        else:
            found = [each for base in bases if isinstance(each := _down(base, fragment), dict)]
        if keyword == "$recursiveRef":
            found = [*found, *self._outermost]
        return list({id(each): each for each in found}.values())

    def _find(self, address: str) -> list[Json]:
        return [*self._addresses.get(_last(address), [])]

    def _name(self, body: Object) -> None:
        for key in ("$id", "id"):
            named = body.get(key)
            if isinstance(named, str):
                address, _, anchor = named.partition("#")
                _keep(self._addresses, _last(address), body)
                _keep(self._anchors, anchor, body)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(named := body.get(key), str):
                _keep(self._anchors, named, body)
        if body.get("$recursiveAnchor") is True and len(self._outermost) < _ALIKE:
            self._outermost.append(body)


def patterns_in(root: Json) -> Iterator[str]:
    """Yield every text in a schema that may be compiled as a regular expression."""
    for body, _ in _bodies(root):
        pattern, named = body.get("pattern"), body.get("patternProperties")
        if isinstance(pattern, str):
            yield pattern
        yield from named if isinstance(named, dict) else ()


def _bodies(root: Json) -> Iterator[tuple[Object, Json]]:
    """Yield every object in a schema with the innermost one around it that has an address."""
    todo: list[tuple[Json, Json]] = [(root, root)]
    while todo:
        given, base = todo.pop()
        if isinstance(given, dict):
            base = given if isinstance(given.get("$id"), str) or isinstance(given.get("id"), str) else base
            yield given, base
        inner = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
        todo.extend((each, base) for each in inner if isinstance(each, dict | list))


def _keep(names: dict[str, list[Object]], name: str, body: Object) -> None:
    known = names.setdefault(name, []) if name else []
    known.append(body)
    del known[:-_ALIKE]


def _last(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def _down(given: Json, pointer: str) -> Json:
    for token in pointer.split("/")[1:]:
        key = _decode(token).replace("~1", "/").replace("~0", "~")
        if isinstance(given, dict):
            given = given.get(key)
        elif isinstance(given, list) and key.isdecimal() and len(key) < _ALIKE and int(key) < len(given):
            given = given[int(key)]
        else:
            return None
    return given


def _decode(text: str) -> str:
    if "%" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1", "replace").decode(errors="replace")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@value
class Keywords:
    """The parts of a value that keywords read beyond the value itself, so that its size counts.

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
    """The schemas that one schema applies, as written.

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
"""Keywords beside one about unevaluated members are evaluated about three times more to find these."""


def find_applied(body: Object) -> Applied:
    """Return the schemas that a schema applies; keywords of all drafts count, whichever the schema is in."""
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
