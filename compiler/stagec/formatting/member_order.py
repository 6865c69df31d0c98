"""In which order the members of a document stand: that of the schemas that stagec publishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from stagec.core.json import Object, list_of, object_of
from stagec.sources.shape.document import load_published

_FIRST = ("$schema", "$comment")
"""What stands first in every object: what a document is checked by, and the comment of an object, as JSON has it."""
_PARTS = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("then", "else")
_REFERENCE = "#/"


class MemberOrder:
    """The order of the members of one object, and of what is inside: known ones first, the others as written."""

    def __init__(self, document: Object, schemas: Iterable[Object]) -> None:
        self._document = document
        self._schemas = tuple(_list_parts(document, schemas))
        self._below: dict[str | None, MemberOrder] = {}
        names = [name for each in self._schemas for name in object_of(each.get("properties"))]
        self._ranks = {name: rank for rank, name in enumerate(dict.fromkeys((*_FIRST, *names)))} if names else {}

    @property
    def schemas(self) -> tuple[Object, ...]:
        """The parts of the schema that say something about the object."""
        return self._schemas

    def rank(self, name: str | None) -> int:
        """Return the position of a member; all that are unknown have the last one."""
        return self._ranks.get(name or "", len(self._ranks))

    def below(self, name: str | None) -> MemberOrder:
        """Return the order inside a member of an object, or with None inside the elements of a list."""
        if not self._schemas:
            return self
        if name not in self._below:
            found = (_find_member(each, name) for each in self._schemas)
            self._below[name] = MemberOrder(self._document, [each for each in found if each])
        return self._below[name]


@cache
def read_order(name: str, definition: str | None = None) -> MemberOrder:
    """Return the order that the published schema of a document shows, or a definition in it."""
    document = load_published(name).schema
    found = document if definition is None else object_of(object_of(document["$defs"])[definition])
    return MemberOrder(document, [found])


def _find_member(schema: Object, name: str | None) -> Object:
    if name is None:
        return object_of(schema.get("items"))
    members = object_of(schema.get("properties"))
    return object_of(members[name] if name in members else schema.get("additionalProperties"))


def _list_parts(document: Object, schemas: Iterable[Object]) -> Iterator[Object]:
    """Yield schemas, what they refer to, and what they consist of, each once."""
    waiting = list(schemas)
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop(0)
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            waiting.append(_follow(document, reference))
        waiting += [object_of(part) for name in _PARTS for part in list_of(schema.get(name))]
        waiting += [object_of(schema[name]) for name in _BRANCHES if name in schema]


def _follow(document: Object, reference: str) -> Object:
    for name in reference.removeprefix(_REFERENCE).split("/"):
        document = object_of(document.get(name))
    return document


AS_WRITTEN = MemberOrder({}, ())
"""The order of a document of which stagec knows no members."""
