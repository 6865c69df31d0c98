"""Find the parts of users' schemas: by name, by pointer, and through references between files."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import quote, unquote, unquote_to_bytes, urldefrag, urljoin, urlsplit

from stagec.core.canonical import text_of
from stagec.core.json import Json
from stagec.core.memo import KeptAnswers, Memo, OutwornError, Worked
from stagec.core.place import Key, Place, Pointer
from stagec.core.value import value
from stagec.sources.read import Sources, join
from stagec.sources.shape.dialects import DOUBTFUL, LATEST, Dialect, draft_at, read_in
from stagec.sources.shape.subschemas import SchemaPart, index_of, parts, tokens
from stagec.sources.tree import Tree

_UNNAMED = "https://project.invalid/"
"""The address of files that give themselves none; no host can have this name."""
T = TypeVar("T")
_NAMED = re.compile(rb'"(?:\$|\\u0024)?id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_MOST_FILES, _MOST_BYTES = 5_000, 1_000_000
"""How many files are searched for an address, and how much of each."""


@value
class AddressedPart:
    """A part of a schema file: its place, its content, and its dialect."""

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


class _AskedSources:
    """The files of a project, and what schemas were told of them: another check may tell the same."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._told: dict[tuple[str, tuple[Any, ...], int], object] = {}

    def tree(self, file: str, kind: str) -> Tree | None:
        return self._ask(Sources.tree, file, kind)

    def find_tree(self, file: str) -> Tree | None:
        return self._ask(Sources.find_tree, file)

    def below(self, folder: str, suffix: str) -> tuple[str, ...]:
        return self._ask(Sources.below, folder, suffix)

    def glance(self, file: str, most: int) -> bytes:
        return self._ask(Sources.glance, file, most)

    def forget(self, file: str) -> None:
        self._sources.forget(file)

    def keep(self, question: object, answer: Callable[[], T]) -> T:
        return self._sources.keep(question, answer)

    @property
    def kept(self) -> KeptAnswers:
        return self._sources.kept

    def _ask(self, question: Callable[..., T], *given: Any) -> T:
        answer = question(self._sources, *given)
        self._told.setdefault((question.__name__, given, id(answer)), answer)
        return answer

    def move_to(self, sources: Sources) -> bool:
        """Ask the sources of another check from now on if they tell the same, and tell whether they do."""
        if all(_tells(sources, question, given, told) for (question, given, _), told in self._told.items()):
            self._sources = sources
            return True
        return False


def _tells(sources: Sources, question: str, given: tuple[Any, ...], told: object) -> bool:
    """Tell whether sources answer a question as others did.

    This reads no file: the files that a project has depend on the questions of this check.
    """
    if question == Sources.tree.__name__:
        now: object = sources.find_tree(given[0])
        if told is None:
            return now is None and not sources.exists(given[0])
    else:
        now = getattr(sources, question)(*given)
    if isinstance(told, Tree) and isinstance(now, Tree):
        return told.value is now.value and told.data == now.data and told.readable == now.readable
    return told == now


class Addresses:
    """The schemas of one project that have addresses of their own; a file is read when an address may be in it."""

    def __init__(self, sources: _AskedSources) -> None:
        self._sources = sources
        self._registries: dict[Place, Any] = {}
        self._uris: dict[Place, dict[Place, str]] = {}
        self._named: dict[Place, frozenset[Place]] = {}
        self._files: Mapping[bytes, list[str]] | None = None
        self._plain: dict[str, bool] = {}

    def find_named(self, start: Place, given: Json) -> frozenset[Place]:
        """Return the places of parts of a schema with addresses of their own; a schema without any is not searched."""
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
    """Return the places of parts with addresses of their own in a schema of a file with some bytes."""
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
    """Return the text behind the last slash or colon of an address, with or without escapes."""
    plain = unquote_to_bytes(address.removesuffix(b"#"))
    return posixpath.basename(plain.replace(b":", b"/").replace(b"\\", b""))


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
_MOST_CARRIED = 40_000
"""A check reuses the schemas of earlier checks only if these have looked at fewer parts of schemas in all."""


_REFERRING = (b"$", b"\\u", b"\\U", b"\\x")
"""Marks of texts that may have a keyword such as `$ref`, also with escapes."""


def _always(_: object) -> bool:
    return True


class Schemas:
    """The schema files of one project, read when something refers to them."""

    def __init__(self, sources: Sources) -> None:
        self.memo = Memo()
        self._sources = _AskedSources(sources)
        self._patience = _PATIENCE
        self._spent = 0
        self._is_carried = False
        self._check = sources.kept.check
        self._counted: dict[int, object] = {}
        self._texts: dict[str, bytes | None] = {}
        self._anchors: dict[Place, Mapping[str, Schema]] = {}
        self._addresses = Addresses(self._sources)
        self._resolved: dict[tuple[str, str, Pointer], Schema | Miss] = {}
        self._embedded: dict[str, dict[Pointer, None]] = {}
        self._drafts: dict[Place, Dialect | None] = {}
        self._meant: dict[tuple[Place, int], tuple[Schema, Schema]] = {}

    @classmethod
    def carry(cls, sources: Sources) -> Schemas:
        """Return the schemas of an earlier check, with all that follows from them, if every file is still the same.

        Else they are new, and so they are where the work that they have taken may exceed the budget of one check.
        """
        if not sources.kept.carries_work:
            return cls(sources)
        question = (cls.__name__, sources.budgets)
        found = sources.kept.once(question, lambda: cls(sources))
        if not found.go_on(sources):
            found = cls(sources)
            sources.kept.put(question, found)
        found._is_carried = True
        return found

    def go_on(self, sources: Sources) -> bool:
        """Serve another check from now on, and tell whether that is possible."""
        self._check = sources.kept.check
        return self._spent <= _MOST_CARRIED and self._sources.move_to(sources)

    @property
    def is_carried(self) -> bool:
        """Whether later checks may have these schemas too."""
        return self._is_carried

    def keep_here(self, question: Hashable, answer: Callable[[], T]) -> T:
        """Return the answer to a question about these schemas alone, from any check that has them."""
        return self._sources.kept.once((self, question), answer) if self._is_carried else answer()

    def embed(self, schema: Schema) -> None:
        """Take a part of a document for a schema of its own: what it refers to by `#` is inside it."""
        self._embedded.setdefault(schema.at.file, {})[schema.at.pointer] = None

    def keep(
        self,
        question: Hashable,
        group: tuple[Schema, ...],
        answer: Callable[[], T],
        lasts: Callable[[T], bool] = _always,
    ) -> T:
        """Return the answer to a question about schemas, from an earlier check if their files are still the same.

        A file that may refer to others says nothing alone: then it is worked out. An answer lasts unless it holds
        something that wears out, such as an index of names.
        """
        given = [question]
        for each in group:
            text = self.find_text(each.at.file)
            if text is None:
                return answer()
            given += [each.at, text]
        return self.count(self._sources.keep(tuple(given), lambda: self.work(answer, lasts)))

    def keep_equal(self, question: Hashable, schema: Schema, answer: Callable[[], T]) -> T:
        """Return the answer to a question about a schema, from an equal one in this check or an earlier one.

        The answer may name no place.
        """
        if self.find_text(schema.at.file) is None:
            return answer()
        return self.count(self._sources.keep((question, text_of(schema.value)), lambda: self.work(answer)))

    def keep_fault(self, question: Hashable, schema: Schema, answer: Callable[[], T | None]) -> T | None:
        """Return the fault of a schema; equal ones share the answer that there is none: a fault names places."""
        at, found = self.keep_equal(question, schema, lambda: (schema.at, answer()))
        return found if found is None or at == schema.at else self.keep(question, (schema,), answer)

    def find_text(self, file: str) -> bytes | None:
        """Return the text of a file that refers to no other one; None where it may, or has not been read."""
        if file not in self._texts:
            tree = self._sources.find_tree(file)
            refers = tree is None or any(sign in tree.data for sign in _REFERRING)
            self._texts[file] = None if tree is None or refers else tree.data
        return self._texts[file]

    def keep_beside(
        self, known: Memo, question: Hashable, answer: Callable[[], T], lasts: Callable[[T], bool] = _always
    ) -> T:
        """Return an answer that follows from a kept object with a memo."""
        found = known.find(question)
        if isinstance(found, Worked) and (found.lasts or found.check == self._sources.kept.check):
            worked: Worked[T] = found
        else:
            worked = self.work(answer, lasts)
            known.put(question, worked)
        return self.count(worked)

    def work(self, answer: Callable[[], T], lasts: Callable[[T], bool] = _always) -> Worked[T]:
        """Return an answer with the work that it took."""
        before = self._patience
        found = answer()
        is_done = self._patience >= 0  # without patience another check may find more
        return Worked(found, max(0, before - self._patience), self._sources.kept.check, is_done and lasts(found))

    def count(self, worked: Worked[T]) -> T:
        """Return an answer, and count its work if an earlier check did it: at least as much as if it were done now."""
        if worked.work and worked.check != self._sources.kept.check and id(worked) not in self._counted:
            self._counted[id(worked)] = worked
            self._spend(worked.work)
        return worked.answer

    def _spend(self, work: int) -> bool:
        """Take some work from the budget, and tell whether there is enough."""
        self._patience -= work
        self._spent += work
        # schemas that are carried have been given more than one check is, and may have done more
        is_outworn = self._spent > _PATIENCE if self._is_carried else self._patience < 0 and bool(self._counted)
        if is_outworn and self._sources.kept.is_under_way(self._check):
            raise OutwornError
        return self._patience >= 0

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
        """Return the pointer to the schema around a part: that of an embedded schema, else the root of the file."""
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
        """Return the target of a `$ref` in a file; only files of the project are ever read.

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
        """Return the draft of JSON Schema of a part of a schema; a part that no file has counts as a whole."""
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
            if not self._spend(1):
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
"""Misses of an address that may be the name a schema gives itself."""


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
