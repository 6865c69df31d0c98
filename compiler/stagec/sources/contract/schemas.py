"""Find the parts of users' schemas: by name, by pointer, and through references between files."""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator, Mapping
from enum import StrEnum
from urllib.parse import unquote, urldefrag, urlsplit

from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.core.place import Key, Place, Pointer
from stagec.core.value import value
from stagec.sources.contract.addresses import Addresses
from stagec.sources.read import Sources, join
from stagec.sources.shape.dialects import DOUBTFUL, Dialect, draft_at, read_in
from stagec.sources.shape.subschemas import SchemaPart, index_of, parts, tokens


class Miss(StrEnum):
    """Why a part of a schema was not found."""

    NO_FILE = "no-file"
    NO_MEMBER = "no-member"
    NO_SCHEMA = "no-schema"
    OUTSIDE = "outside"
    UNKNOWABLE = "unknowable"
    """The file cannot be read, as its own diagnostic says, or more had to be looked at than anybody writes."""
    INVOLVED = "involved"
    """All of it can be read, and says something in ways that are not followed."""


@value
class Schema:
    """A schema or a part of one, and where it is written."""

    value: Json
    at: Place


_PATIENCE, _FOR_EACH = 50_000, 200
"""Parts of schemas looked at for one project, and for each schema that a step names: more than anybody needs."""


class Schemas:
    """The schema files of one project, read when something refers to them."""

    def __init__(self, sources: Sources) -> None:
        self.memo = Memo()
        self._sources = sources
        self._patience = _PATIENCE
        self._anchors: dict[Place, Mapping[str, Schema]] = {}
        self._addresses = Addresses(sources)
        self._resolved: dict[tuple[str, str, Pointer], Schema | Miss] = {}
        self._embedded: dict[str, dict[Pointer, None]] = {}
        self._drafts: dict[Place, Dialect | None] = {}
        self._meant: dict[tuple[Place, int], tuple[Schema, Schema]] = {}

    def embed(self, schema: Schema) -> None:
        """Take a part of a document for a schema of its own: what it refers to by `#` is inside it."""
        self._embedded.setdefault(schema.at.file, {})[schema.at.pointer] = None

    def root(self, file: str) -> Schema | Miss:
        """Return a whole schema file."""
        tree = self._sources.tree(file, "schema")
        if tree is None:
            return Miss.NO_FILE
        return Schema(tree.value, Place(file)) if isinstance(tree.value, dict) else Miss.UNKNOWABLE

    def whole(self, file: str, base: Pointer = ()) -> Schema | Miss:
        """Return the schema that begins at a pointer into a file, whatever the file is."""
        tree = self._sources.tree(file, "schema") if base else None
        return self.root(file) if tree is None else _down(Schema(tree.value, Place(file)), tuple(map(str, base)))

    def base(self, at: Place) -> Pointer:
        """Return to which part of its file a `#` in a part refers: the innermost one around it with an own `$id`.

        Where none has one, it is where the schema begins.
        """
        start = self.start(at)
        whole = self.whole(at.file, start)
        named = self._addresses.find_named(whole.at, whole.value) if isinstance(whole, Schema) else ()
        inner = named - {Place(at.file, start)} if named else named
        ways = (at.pointer[:length] for length in range(len(at.pointer), len(start), -1)) if inner else ()
        return next((each for each in ways if Place(at.file, each) in named), start)

    def start(self, at: Place) -> Pointer:
        """Return where in its file the schema begins that a part is in: where one was embedded, else at the root."""
        bases = self._embedded.get(at.file, {})
        ways = (at.pointer[:length] for length in range(len(at.pointer) + 1)) if bases else ()
        return next((each for each in ways if each in bases), ())

    def find_named(self, file: str, identifier: str) -> Schema | Miss:
        """Return the schema a registry means by file and name: a pointer, a definition, or a member of the file."""
        self._patience += _FOR_EACH
        root = self.root(file)
        if isinstance(root, Miss):
            return root
        if identifier.startswith(("#/", "/")):
            return _down(root, tokens(identifier))
        ways = (("definitions", identifier), ("$defs", identifier), (identifier,))
        found = (_down(root, path) for path in ways)
        return next((each for each in found if isinstance(each, Schema)), Miss.NO_MEMBER)

    def names(self, file: str) -> tuple[str, ...]:
        """Return the names under which a file holds schemas: its members and definitions."""
        root = self.root(file)
        if isinstance(root, Miss) or not isinstance(root.value, dict):
            return ()
        defined = [_member(root, key) for key in ("definitions", "$defs")]
        members = [name for name in root.value if not name.startswith("$") and name != "definitions"]
        return tuple(dict.fromkeys([*members, *(name for each in defined if isinstance(each, dict) for name in each)]))

    def resolve(self, reference: str, file: str, base: Pointer = ()) -> Schema | Miss:
        """Return what a `$ref` in a file refers to; only files of the project are ever looked at.

        `base` is where in the file the schema begins that it is in.
        """
        key = (reference, file, base)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(reference, file, base)
        return self._resolved[key]

    def _resolve(self, reference: str, file: str, base: Pointer) -> Schema | Miss:
        fragment = reference.partition("#")[2]
        found = self.document(reference, file, base)
        if isinstance(found, Miss) or not fragment:
            return found
        return _down(found, tokens(fragment)) if fragment.startswith("/") else self._anchor(found, unquote(fragment))

    def document(self, reference: str, file: str, base: Pointer = ()) -> Schema | Miss:
        """Return the schema that a reference without its fragment means: a file, or one with such an `$id`."""
        try:
            address, _ = urldefrag(reference)
            scheme = urlsplit(address).scheme
        except ValueError:  # such as brackets around what is no address
            return Miss.OUTSIDE
        if not address:
            return self.whole(file, base)
        is_path = not scheme and not address.startswith("/")
        target = join(posixpath.dirname(file), unquote(address)) if is_path else None
        found = Miss.OUTSIDE if target is None else self.root(target)
        if isinstance(found, Schema) or found not in _ELSEWHERE:
            return found
        return self._find_address(address, Place(file, base)) or found

    def _find_address(self, address: str, base: Place) -> Schema | None:
        """Return the schema that gives itself an address, as seen from a part of a schema."""
        whole = self.whole(base.file, self.start(base))
        at = self._addresses.find(address, base, whole.at, whole.value) if isinstance(whole, Schema) else None
        found = self.whole(at.file, at.pointer) if at is not None else None
        return found if isinstance(found, Schema) else None

    def draft(self, schema: Schema) -> Dialect:
        """Return the draft of JSON Schema that a part of a schema is in; one that lies nowhere is all there is."""
        at = schema.at
        start = Place(at.file, self.start(at))
        if start not in self._drafts:
            self._drafts[start] = self._find_only_draft(start)
        only = self._drafts[start]
        if only is not None:
            return only
        whole = self.whole(start.file, start.pointer)
        if isinstance(whole, Miss):
            return draft_at(schema.value, ())
        return draft_at(whole.value, at.pointer[len(start.pointer) :])

    def _find_only_draft(self, start: Place) -> Dialect | None:
        """Return the draft of all parts of a schema where only its root can name one."""
        whole, tree = self.whole(start.file, start.pointer), self._sources.find_tree(start.file)
        if isinstance(whole, Miss) or tree is None or b"\\" in tree.data:
            return None
        named = whole.value.get("$schema") if isinstance(whole.value, dict) else None
        return draft_at(whole.value, ()) if tree.data.count(b"$schema") <= (named is not None) else None

    def _read(self, schema: Schema) -> Schema:
        """Return a schema with what its draft does not know left out: validators do not look at it."""
        if not isinstance(schema.value, dict) or DOUBTFUL.isdisjoint(schema.value):
            return schema
        key = (schema.at, id(schema.value))
        if key not in self._meant:
            meant = read_in(schema.value, self.draft(schema))
            self._meant[key] = schema, schema if meant is schema.value else Schema(meant, schema.at)
        return self._meant[key][1]

    def layers(self, *schemas: Schema) -> Iterator[Schema | Miss]:
        """Yield schemas, each once, and all that apply together with them: what they refer to and their `allOf`."""
        todo: deque[Schema | Miss] = deque(schemas)
        seen: set[Place] = set()
        while todo:
            each = todo.popleft()
            self._patience -= 1
            if self._patience < 0:
                yield Miss.UNKNOWABLE
                return
            if isinstance(each, Miss):
                yield each
            elif each.at not in seen:
                seen.add(each.at)
                meant = self._read(each)
                yield meant
                todo.extend(self._beside(meant))

    def _anchor(self, root: Schema, name: str) -> Schema | Miss:
        if root.at not in self._anchors:
            self._anchors[root.at] = _anchors(root)
        return self._anchors[root.at].get(name, Miss.NO_MEMBER)

    def _beside(self, schema: Schema) -> Iterator[Schema | Miss]:
        text = _member(schema, "$ref")
        branches = _member(schema, "allOf")
        if isinstance(branches, list):
            for index, branch in enumerate(branches):
                yield Schema(branch, schema.at / "allOf" / index)
        if isinstance(text, str):
            yield self._resolve_at(text, schema.at)

    def _resolve_at(self, reference: str, at: Place) -> Schema | Miss:
        return self.resolve(reference, at.file, self.base(at))


_ELSEWHERE = {Miss.OUTSIDE, Miss.NO_FILE}
"""What an address leads to that may be the name a schema gives itself."""


_Trail = tuple["_Trail", Key] | None
"""The keys from a schema down to a part of it, the last one first: few parts need a place."""


def list_parts(root: Schema, having: frozenset[str]) -> Iterator[Schema]:
    """Yield a schema and every part of it that is a schema or holds some, as far as it has one of some members."""
    todo: list[tuple[Json, SchemaPart, _Trail]] = [(root.value, SchemaPart.SCHEMA, None)]
    while todo:
        given, outer, trail = todo.pop()
        if isinstance(given, dict) and not having.isdisjoint(given):
            keys: list[Key] = []
            way = trail
            while way is not None:
                way, key = way
                keys.append(key)
            yield Schema(given, Place(root.at.file, (*root.at.pointer, *reversed(keys))))
        todo.extend((inner, stands, (trail, key)) for key, inner, stands in parts(outer, given))


_NAMING = frozenset({"$id", "$anchor", "$dynamicAnchor"})


def _anchors(root: Schema) -> Mapping[str, Schema]:
    """Return the schemas of a file that have a name of their own; of several with one name the first counts."""
    found: dict[str, Schema] = {}
    for each in list_parts(root, _NAMING):
        identity = _member(each, "$id")
        for name in (_member(each, "$anchor"), _member(each, "$dynamicAnchor"), identity):
            if isinstance(name, str) and (name is not identity or name.startswith("#")):
                found.setdefault(name.removeprefix("#") if name is identity else name, each)
    return found


def _down(schema: Schema, path: tuple[str, ...]) -> Schema | Miss:
    inner, at = schema.value, schema.at
    for token in path:
        key: Key
        if isinstance(inner, dict) and token in inner:
            key, inner = token, inner[token]
        elif isinstance(inner, list) and (index := index_of(token)) < len(inner):
            key, inner = index, inner[index]
        else:
            return Miss.NO_MEMBER
        at = at / key
    return Schema(inner, at)


def absent(schema: Schema, path: tuple[str, ...]) -> Place:
    """Return the place of the first member of a path that a schema lacks; else the end of the path."""
    found: Schema | Miss = schema
    at = schema.at
    for length, token in enumerate(path, 1):
        at = found.at / token if isinstance(found, Schema) else at
        found = _down(schema, path[:length])
        if isinstance(found, Miss):
            return at
    return at


def is_inherited(schema: Schema, path: tuple[str, ...]) -> bool:
    """Tell whether a schema does not have a path of its own, nor by a reference on the way, so only by `allOf`."""
    nodes = [_down(schema, path[:length]) for length in range(len(path) + 1)]
    there = [each for each in nodes if isinstance(each, Schema)]
    return len(there) < len(nodes) and all(_member(each, "$ref") is None for each in there)


def _member(schema: Schema, key: str) -> Json:
    return schema.value.get(key) if isinstance(schema.value, dict) else None
