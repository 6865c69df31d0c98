"""The references of schemas: the parts that a schema reaches, and the draft of JSON Schema that fits them all."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from urllib.parse import unquote

from stagec.core.json import Json, Object
from stagec.core.place import Place, Pointer, pointer_text
from stagec.core.value import replace, value
from stagec.sources.contract.choices import identity
from stagec.sources.contract.combinations import Combination, type_of, types_of
from stagec.sources.contract.schemas import Miss, Schema, Schemas, list_parts
from stagec.sources.read import join
from stagec.sources.shape.dialects import INCLUSIVE, REMARKS, Dialect, drop_ignored, is_known
from stagec.sources.shape.subschemas import KEYWORDS, SchemaPart, parts

FEW: dict[str, tuple[Json, ...]] = {"boolean": (True, False), "null": (None,)}
"""The types that have few values."""


def list_values(combination: Combination) -> list[Json] | None:
    """Return the values that every list of a combination names and its types allow, None when there is no list."""
    all_lists = [each for layer in combination.layers if isinstance(layer.value, dict) for each in lists(layer.value)]
    types = combination.types
    if types is not None and types <= FEW.keys():
        all_lists.append([each for kind in sorted(types) for each in FEW[kind]])
    if not all_lists:
        return None
    first, *others = all_lists
    common = [frozenset(map(identity, other)) for other in others]
    return [
        each
        for each in _leave_denied(combination, first)
        if (types is None or type_of(each) in types) and all(identity(each) in other for other in common)
    ]


def _leave_denied(combination: Combination, values: list[Json]) -> list[Json]:
    """Return the values that a combination does not deny for sure."""
    denied = [body["not"] for body in bodies_of(combination) if "not" in body]
    return [each for each in values if not any(fits_extent(schema, each) for schema in denied)]


def lists(body: Object) -> Iterator[list[Json]]:
    """Yield the lists of values that a schema itself gives: its `enum`, and its `const`."""
    listed = body.get("enum")
    if isinstance(listed, list):
        yield listed
    if "const" in body:
        yield [body["const"]]


def admits(combination: Combination, given: Json) -> bool:
    """Tell whether types and bounds leave a value; what else a schema may say is not looked at."""
    if combination.types is not None and type_of(given) not in combination.types:
        return False
    return all(_within(body, given) for body in bodies_of(combination))


def _within(body: Object, given: Json) -> bool:
    if isinstance(given, str):
        low, high = read_bound(body, "minLength"), read_bound(body, "maxLength")
        return (low is None or len(given) >= low) and (high is None or len(given) <= high)
    if isinstance(given, list):
        low, high = read_bound(body, "minItems"), read_bound(body, "maxItems")
        return (low is None or len(given) >= low) and (high is None or len(given) <= high)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return True
    step = read_bound(body, "multipleOf")
    if isinstance(step, int) and step > 0 and (given != int(given) or int(given) % step != 0):
        return False
    low, high = read_bound(body, "minimum"), read_bound(body, "maximum")
    above, below = read_bound(body, "exclusiveMinimum"), read_bound(body, "exclusiveMaximum")
    inside = (low is None or given >= low) and (high is None or given <= high)
    return inside and (above is None or given > above) and (below is None or given < below)


def numbers(combination: Combination, key: str) -> list[int | float]:
    """Return the bounds of one kind that a combination sets."""
    return [found for body in bodies_of(combination) if (found := read_bound(body, key)) is not None]


def read_bound(body: Object, key: str) -> int | float | None:
    """Return a bound that a schema itself sets, None for one that is no number."""
    found = body.get(key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return found if isinstance(found, int) or isfinite(found) else None  # an integer can be larger than any float


def bodies_of(combination: Combination) -> Iterator[Object]:
    """Yield the layers of a combination that are objects."""
    return (each.value for each in combination.layers if isinstance(each.value, dict))


_JUDGED = {
    *("type", "enum", "const", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
"""The keywords that `fits` reads."""


def fits_extent(schema: Json, given: Json) -> bool | None:
    """Tell whether a value satisfies a schema by itself; None where it says more than is looked at."""
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else None
    if isinstance(given, list | dict) and not schema.keys().isdisjoint({"enum", "const"}):
        return None
    types = types_of({"type": schema["type"]}) if "type" in schema else None
    alone = Combination((Schema(schema, Place("")),), types, whole=True)
    if not admits(alone, given) or any(identity(given) not in map(identity, each) for each in lists(schema)):
        return False
    others = [key for key in schema if key not in _JUDGED and key in KEYWORDS and key not in REMARKS]
    return None if others or ("type" in schema and types is None) else True


_LONGEST_RANGE = 64
"""Whole numbers between two bounds that are counted out."""


def count_out(combination: Combination, many: int = 0) -> list[Json] | None:
    """Return all values that types, bounds, multiples and plain patterns leave, None when they are too many.

    `many` numbers are never too many.
    """
    kinds = [_all_of(combination, each, max(many, _LONGEST_RANGE)) for each in sorted(combination.types or ("any",))]
    every = None if None in kinds else [each for kind in kinds if kind is not None for each in kind]
    return None if every is None else [each for each in _leave_denied(combination, every) if admits(combination, each)]


def _all_of(combination: Combination, kind: str, most: int) -> list[Json] | None:
    if kind == "integer":
        return _list_multiples(combination, 1, most)
    if kind == "number":
        steps = [each for each in numbers(combination, "multipleOf") if (each * _FINEST) % 1 == 0 and each > 0]
        return _list_multiples(combination, max(steps), most) if steps else None
    if kind == "string":
        return [""] if 0 in numbers(combination, "maxLength") else _list_texts(combination)
    return [*FEW[kind]] if kind in FEW else None


_TEXTS = re.compile(r"\^(?:(?P<one>[\w -]+)|\((?:\?:)?(?P<some>[\w -]*(?:\|[\w -]*)*)\))\$", re.ASCII)


def _list_texts(combination: Combination) -> list[Json] | None:
    """Return the texts that a pattern names one by one, such as `^(yes|no)$`; None where none does."""
    patterns = (str(body["pattern"]) for body in bodies_of(combination) if "pattern" in body)
    found = next((named for each in patterns if (named := _TEXTS.fullmatch(each))), None)
    return None if found is None else list(dict.fromkeys((found["one"] or found["some"] or "").split("|")))


_FINEST = 1_024
"""Steps between numbers that are as small as a fraction with this divisor are exact."""


def _list_multiples(combination: Combination, step: float, longest: int) -> list[Json] | None:
    """Return the multiples of a step that the bounds leave; None without bounds, and if they are too many."""
    least = [-(-low // step) for low in numbers(combination, "minimum")]
    least += [low // step + 1 for low in numbers(combination, "exclusiveMinimum")]
    most = [high // step for high in numbers(combination, "maximum")]
    most += [-(-high // step) - 1 for high in numbers(combination, "exclusiveMaximum")]
    if not least or not most or min(most) - max(least) >= longest:
        return None
    found = (each * step for each in range(int(max(least)), int(min(most)) + 1))
    return [int(each) if each % 1 == 0 else each for each in found]


@value
class Reference:
    """A `$ref` as written, and what became of it."""

    text: str
    at: Place
    found: Schema | Miss
    document: Schema | Miss
    """The target of the part of the reference before `#`."""

    @property
    def target(self) -> tuple[str, str]:
        """The file it means, empty for one outside the project, and the part of that file."""
        address, _, part = self.text.partition("#")
        if isinstance(self.document, Schema):
            is_pointer = not part or part.startswith("/")
            return self.document.at.file, pointer_text(self.document.at.pointer) + part if is_pointer else part
        return join(posixpath.dirname(self.at.file), unquote(address)) or "", part


_REFERRING = ("$ref", "$dynamicRef")


def references_in(schemas: Schemas, schema: Schema | Miss) -> Iterator[Reference]:
    """Yield every reference written in a schema; none where there is none."""
    for each in list_parts(schema, frozenset(_REFERRING)) if isinstance(schema, Schema) else ():
        body = each.value if isinstance(each.value, dict) else {}
        for keyword in _REFERRING:
            text = body.get(keyword)
            if isinstance(text, str):
                base = schemas.base(each.at)
                found = schemas.resolve(text, each.at.file, base)
                is_schema = isinstance(found, Miss) or isinstance(found.value, dict | bool)
                document = schemas.document(text, each.at.file, base)
                yield Reference(text, each.at / keyword, found if is_schema else Miss.NO_SCHEMA, document)


@value
class SchemaScope:
    """The scope in which a part of a schema is read: the file, the place of the schema in it, and the draft."""

    file: str
    base: Pointer
    draft: Dialect

    def of(self, schema: Object) -> SchemaScope:
        """Return the scope of a schema that lies in this one."""
        draft = Dialect.of(schema, self.draft)
        return self if draft is self.draft else replace(self, draft=draft)

    def at(self, base: Pointer) -> SchemaScope:
        """Return the scope with another part of the file as what `#` means."""
        return self if base == self.base else replace(self, base=base)


class Reach:
    """Every schema that one schema refers to, directly or by way of others, each once.

    `targets` holds each with its scope, in the order in which they are come upon, by their place; the first is the
    schema itself. `draft` is the one in which the whole bundle is written: the schema's own if everything means the
    same in it, else the latest draft of any part; then the parts of others must be restated.
    """

    def __init__(self, schemas: Schemas, schema: Schema) -> None:
        self._schemas = schemas
        self._start = self.scope(schema)
        self._seen: set[tuple[object, ...]] = set()
        self._drafts = {self._start.draft}
        self.targets = {schema.at: (schema, self._start)}
        self.is_mixed = False
        self._collect()
        self.draft = max(self._drafts) if self.is_mixed else self._start.draft

    def scope(self, schema: Schema) -> SchemaScope:
        """Return the scope of a schema: its draft is named by it, or by one of the schemas around it."""
        return SchemaScope(schema.at.file, self._schemas.base(schema.at), self._schemas.draft(schema))

    def inner(self, schema: Object, at: Place, scope: SchemaScope) -> SchemaScope:
        """Return the scope of a schema that lies at a place in another one."""
        return scope.of(schema).at(self._schemas.base(at)) if _IDENTITIES & schema.keys() else scope.of(schema)

    def find_references(self, schema: Object, scope: SchemaScope) -> Iterator[tuple[str, Schema]]:
        """Yield the references of a schema itself, with their keywords; those that cannot be found are left out."""
        for keyword in _REFERENCES:
            text = schema.get(keyword)
            if isinstance(text, str) and is_known(keyword, text, scope.draft):
                found = self._schemas.resolve(text, scope.file, scope.base)
                if isinstance(found, Schema):
                    yield keyword, self._outermost(keyword, text.partition("#")[2], found)

    def _collect(self) -> None:
        todo = deque(self.targets.values())
        while todo:
            schema, scope = todo.popleft()
            for body, inside in self._bodies(schema, scope):
                self._drafts.add(inside.draft)
                self.is_mixed = self.is_mixed or not fits(body, inside.draft, self._start.draft)
                fresh = (each for _, each in self.find_references(body, inside) if each.at not in self.targets)
                found = {each.at: (each, self.scope(each)) for each in fresh}
                self.targets |= found
                todo.extend(found.values())

    def _bodies(self, schema: Schema, scope: SchemaScope) -> Iterator[tuple[Object, SchemaScope]]:
        """Yield the schemas in a schema that were not come upon before, as they are written."""
        todo: list[tuple[Json, SchemaPart, SchemaScope, Place]] = [(schema.value, SchemaPart.SCHEMA, scope, schema.at)]
        while todo:
            given, stands, scope, at = todo.pop()
            if isinstance(given, dict) and stands is SchemaPart.SCHEMA:
                scope = self.inner(given, at, scope)
                identity = (id(given), scope.file, scope.base, scope.draft)
                if identity in self._seen:
                    continue
                self._seen.add(identity)
                yield given, scope
                given = drop_ignored(given, scope.draft)
            todo.extend(reversed([(inner, where, scope, at / key) for key, inner, where in parts(stands, given)]))

    def _outermost(self, keyword: str, name: str, found: Schema) -> Schema:
        """Return the target of a dynamic reference: the schema's own root comes first, if it fits."""
        if not _is_marked(found, keyword, name):
            return found
        outer = self._schemas.resolve(f"#{name}", self._start.file, self._start.base)
        return outer if isinstance(outer, Schema) and _is_marked(outer, keyword, name) else found


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IDENTITIES = {"$id", "id"}


def _is_marked(schema: Schema, keyword: str, name: str) -> bool:
    """Tell whether a schema offers itself to references that look for the outermost one of its name."""
    body = schema.value if isinstance(schema.value, dict) else {}
    if keyword == "$dynamicRef":
        return body.get("$dynamicAnchor") == name
    return keyword == "$recursiveRef" and body.get("$recursiveAnchor") is True


def fits(schema: Object, own: Dialect, target: Dialect) -> bool:
    """Tell whether a schema means in one draft what it means in its own; what is inside it is not looked at."""
    if own is target:
        return True
    alike = all(is_known(key, given, own) == is_known(key, given, target) for key, given in schema.items())
    is_listed = True
    if target is Dialect.SIX and "enum" in schema:  # only drafts before draft-07 ask for plain values that differ
        listed = schema["enum"]
        plain = [each for each in listed if not isinstance(each, list | dict)] if isinstance(listed, list) else []
        is_listed = isinstance(listed, list) and 0 < len(set(plain)) == len(listed)
    return alike and is_listed and target is not Dialect.FOUR  # it has no `true` and `false` in place of schemas


@value
class Keyword:
    """A member of a schema as it is to be written: which member it was, its name now, and its value."""

    key: str
    name: str
    given: Json


def restate(schema: Object, own: Dialect, target: Dialect) -> Iterator[Keyword]:
    """Yield the members with which a later draft says what a schema says in its own; what it ignores is left out."""
    schema = drop_ignored(schema, own)
    for key, given in schema.items():
        if is_known(key, given, own):
            yield from _OTHERWISE.get(key, _as_it_is)(key, schema, target)
        elif key == "dependencies":  # validators of later drafts heed it, too
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
    elif schema[key] and INCLUSIVE[key] in schema:
        yield Keyword(INCLUSIVE[key], key, schema[INCLUSIVE[key]])


_BOUNDS = {bound: exclusive for exclusive, bound in INCLUSIVE.items()}
_Restating = Callable[[str, Object, Dialect], Iterator[Keyword]]
_OTHERWISE: Mapping[str, _Restating] = {
    "items": _items,
    "additionalItems": _further_items,
    "dependencies": _dependencies,
    **dict.fromkeys(_BOUNDS, _bound),
    **dict.fromkeys(INCLUSIVE, _exclusive),
}
