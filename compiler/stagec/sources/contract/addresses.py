"""Find schemas by the addresses they give themselves (`$id`): the only module that imports referencing.

Only files of the project are looked at, and nothing is ever fetched.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from stagec.core.json import Json
from stagec.core.place import Place
from stagec.core.value import value
from stagec.sources.read import Sources
from stagec.sources.shape.dialects import LATEST, Dialect
from stagec.sources.shape.subschemas import SchemaPart, parts

_UNNAMED = "https://project.invalid/"
"""Where files lie that give themselves no address; no host can have this name."""
_NAMED = re.compile(rb'"(?:\$|\\u0024)?id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_MOST_FILES, _MOST_BYTES = 5_000, 1_000_000
"""How many files are searched for an address, and how much of each."""


@value
class AddressedPart:
    """A part of a schema file: where it is, what stands there, and in which dialect."""

    at: Place
    value: Json
    stands: SchemaPart
    dialect: Dialect

    @property
    def address(self) -> str | None:
        """The address that the part gives itself, perhaps relative to that of a part around it."""
        if not isinstance(self.value, dict) or self.stands is not SchemaPart.SCHEMA:
            return None
        if self.dialect < Dialect.OF_2019 and "$ref" in self.value:  # what stands beside it counts only since then
            return None
        given = self.value.get("$id", self.value.get("id"))
        return given if isinstance(given, str) and not given.startswith("#") and _is_address(given) else None

    @property
    def is_base(self) -> bool:
        """Whether references inside are relative to the part; since draft-06, `id` is a name that means nothing."""
        is_named = isinstance(self.value, dict) and (self.dialect is Dialect.FOUR or "$id" in self.value)
        return is_named and self.address is not None

    def parts(self) -> Iterator[AddressedPart]:
        """Yield the parts directly inside that can hold schemas."""
        for key, inner, stands in parts(self.stands, self.value):
            yield _part(self.at / key, inner, stands, self.dialect)


def _part(at: Place, given: Json, stands: SchemaPart, dialect: Dialect) -> AddressedPart:
    own = Dialect.of(given, dialect) if isinstance(given, dict) and stands is SchemaPart.SCHEMA else dialect
    return AddressedPart(at, given, stands, own)


def _is_address(given: str) -> bool:
    try:
        urlsplit(given)
    except ValueError:  # such as brackets around what is no address
        return False
    return True


class Addresses:
    """The schemas of one project that have addresses of their own; a file is read when an address may be in it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._registries: dict[Place, Any] = {}
        self._uris: dict[Place, dict[Place, str]] = {}
        self._named: dict[Place, frozenset[Place]] = {}
        self._files: Mapping[bytes, list[str]] | None = None
        self._plain: dict[str, bool] = {}

    def find_named(self, start: Place, given: Json) -> frozenset[Place]:
        """Return where parts of a schema have addresses of their own; a schema without any is not searched."""
        if start not in self._named:
            tree = self._sources.find_tree(start.file)
            data = tree.data if tree is not None else b""
            self._named[start] = _find_named(start, given, data)
        return self._named[start]

    def find(self, address: str, base: Place, start: Place, given: Json) -> Place | None:
        """Return the place of the schema with an address inside a part of a schema; None if no schema has it.

        `base` is the innermost part around it that has an address, `start` where the schema begins, `given` its value.
        """
        if not urlsplit(address).scheme and self._is_plain(start.file):
            return None
        uri = urljoin(self._uri(base, start, given), address)
        found = self._look_up(uri, start, given)
        if found is not None or uri.startswith(_UNNAMED):
            return found
        return next(filter(None, (self._look_into(file, uri) for file in self._candidates(uri))), None)

    def _is_plain(self, file: str) -> bool:
        """Tell whether no part of a file can have an address; a file is searched once, however much refers to it."""
        if file not in self._plain:
            tree = self._sources.find_tree(file)
            self._plain[file] = tree is not None and b"id" not in tree.data and b"\\u" not in tree.data
        return self._plain[file]

    def _uri(self, base: Place, start: Place, given: Json) -> str:
        """Return the whole address of a part."""
        if start not in self._uris:
            registry = self._registry(start, given)
            named = sorted(registry, key=lambda uri: not uri.startswith(_UNNAMED))  # of two addresses, its own counts
            self._uris[start] = {registry[uri].contents.at: uri for uri in named}
        return self._uris[start].get(base, _UNNAMED + quote(start.file))

    def _look_up(self, uri: str, start: Place, given: Json) -> Place | None:
        from referencing.exceptions import Unresolvable

        try:
            found: AddressedPart = self._registry(start, given).resolver().lookup(uri).contents
        except Unresolvable:
            return None
        return found.at if found.address is not None else None

    def _registry(self, start: Place, given: Json) -> Any:
        """Return the library's registry of all parts of a schema that have addresses."""
        if start not in self._registries:
            import referencing

            library: Any = referencing  # its classes are made by a decorator that type checkers do not see through
            specification = library.Specification(
                name="stagec",
                id_of=lambda part: part.address,
                subresources_of=lambda part: part.parts(),
                anchors_in=lambda _specification, _part: (),
                maybe_in_subresource=lambda _segments, resolver, _subresource: resolver,
            )
            whole = library.Resource(
                contents=_part(start, given, SchemaPart.SCHEMA, LATEST), specification=specification
            )
            registry = library.Registry().with_resource(_UNNAMED + quote(start.file), whole)
            self._registries[start] = registry.crawl()
        return self._registries[start]

    def _candidates(self, uri: str) -> Iterable[str]:
        """Return the files that may hold the schema with an address, by path."""
        if self._files is None:
            # the JSON files of a project by the last names of the addresses in them
            found: dict[bytes, list[str]] = {}
            for file in self._sources.below("", ".json")[:_MOST_FILES]:
                for name in {_last(each) for each in _NAMED.findall(self._sources.glance(file, _MOST_BYTES))}:
                    found.setdefault(name, []).append(file)
            self._files = found
        return self._files.get(_last(uri.encode(errors="replace")), ())

    def _look_into(self, file: str, uri: str) -> Place | None:
        was_known = self._sources.find_tree(file) is not None
        tree = self._sources.tree(file, "schema")
        found = self._look_up(uri, Place(file), tree.value) if tree is not None and tree.readable else None
        if found is None and not was_known:
            self._sources.forget(file)
        return found


def _find_named(start: Place, given: Json, data: bytes) -> frozenset[Place]:
    """Return where the parts with addresses of their own are in a schema of a file with some bytes."""
    if not any(mark in data for mark in (b"$id", b"\\u", b"draft-04")):
        return frozenset()
    root = _part(start, given, SchemaPart.SCHEMA, LATEST)
    if root.is_base and data.count(b'id"') == 1 and b"\\u" not in data:  # most files: nothing inside has one
        return frozenset((start,))
    named, waiting = set(), [root]
    while waiting:
        part = waiting.pop()
        if part.is_base:
            named.add(part.at)
        waiting.extend(part.parts())
    return frozenset(named)


def _last(address: bytes) -> bytes:
    """Return what stands behind the last slash or colon of an address, however it is escaped."""
    plain = unquote_to_bytes(address.removesuffix(b"#"))
    return posixpath.basename(plain.replace(b":", b"/").replace(b"\\", b""))
