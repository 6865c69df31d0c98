"""Whether every value that one JSON Schema accepts is accepted by another: proved, refuted by a value, or not known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from stagec.core.json import Json, Object, equal, kind_of, list_of, object_of
from stagec.core.value import value

Layers = tuple[Json, ...]
"""Schemas all of which a value satisfies."""
LEAST = {"minimum": "exclusiveMinimum", "minLength": "", "minItems": "", "minProperties": ""}
MOST = {"maximum": "exclusiveMaximum", "maxLength": "", "maxItems": "", "maxProperties": ""}


def look_up(root: Object, reference: Json) -> Json:
    """Return the target of a reference inside its own schema; None if it leads elsewhere."""
    if not isinstance(reference, str) or not reference.startswith("#") or "%" in reference:
        return None
    found: Json = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = object_of(found).get(name) if isinstance(found, dict) else None
    return found if reference == "#" or reference.startswith("#/") else None


def find_types(layers: Layers) -> set[str] | None:
    """Return the types that some layers leave, None when none of them says."""
    found: set[str] | None = None
    for each in layers:
        said = _read_types(each) if isinstance(each, dict) else None
        if said is not None:
            found = said if found is None else _intersect(found, said)
    return found


def _read_types(schema: Object) -> set[str] | None:
    if "enum" in schema or "const" in schema:
        return {name_type(each) for each in (list_of(schema["enum"]) if "enum" in schema else [schema["const"]])}
    said = schema.get("type")
    return None if said is None else {said} if isinstance(said, str) else {str(each) for each in list_of(said)}


def _intersect(one: set[str], other: set[str]) -> set[str]:
    both = one & other
    is_whole = (
        "integer" in one | other and ("number" in one or "integer" in one) and ("number" in other or "integer" in other)
    )
    return both | ({"integer"} if is_whole else set())


def name_type(given: Json) -> str:
    """Return the type of a value; that of a whole number is `integer`."""
    return "integer" if isinstance(given, int) and not isinstance(given, bool) else kind_of(given)


def may_be(layers: Layers, kind: str) -> bool:
    """Tell whether some layers leave a type."""
    types = find_types(layers)
    return types is None or kind in types


def list_member_layers(layers: Layers, name: str) -> Layers:
    """Return the schemas that layers give a member by its name; `patternProperties` do not count."""
    found: list[Json] = []
    for each in layers:
        body = object_of(each) if isinstance(each, dict) else {}
        properties = object_of(body.get("properties"))
        if name in properties:
            found.append(properties[name])
        elif "patternProperties" not in body and "additionalProperties" in body:
            found.append(body["additionalProperties"])
    return tuple(found)


def is_bounded(layers: Iterable[Json], key: str, wanted: Json) -> bool:
    """Tell whether a bound follows from one of a layer."""
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return False
    is_least = key in LEAST or key == "exclusiveMinimum"
    plain, strict = ("minimum", "exclusiveMinimum") if is_least else ("maximum", "exclusiveMaximum")
    for each in layers:
        body = object_of(each) if isinstance(each, dict) else {}
        same, stricter = body.get(key), body.get(strict) if key == plain else None
        weaker = body.get(plain) if key == strict else None
        if _reaches(same, wanted, is_least=is_least) or _reaches(stricter, wanted, is_least=is_least):
            return True
        if _reaches(weaker, wanted, is_least=is_least) and weaker != wanted:
            return True
    return is_least and key in {"minLength", "minItems", "minProperties"} and wanted <= 0


def _reaches(given: Json, wanted: float, *, is_least: bool) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return given >= wanted if is_least else given <= wanted


_MOST = 600
"""Values that are tried for one pair of schemas."""
_EACH = 14
"""Values of one part that are tried in all others."""
_SAMPLES_DEPTH = 6
_LONG = 2_000
"""Characters and elements of the longest texts and lists that are tried."""
_ANY: tuple[Json, ...] = ("x", 1, None, True, [], {}, 0.5, "")


def list_samples(old: Json, new: Json) -> list[Json]:
    """Return values that the old schema may accept and the new one may refuse; whoever uses them asks both."""
    return [*islice(_Sampler(old, new).samples(old, new, 0), _MOST)]


class _Sampler:
    """Walks through two schemas side by side."""

    def __init__(self, old: Json, new: Json) -> None:
        self._old, self._new = old, new

    def samples(self, old: Json, new: Json, depth: int) -> Iterator[Json]:
        """Yield values for a part of the old schema, with the part of the new one at the same place."""
        old, new = self._open(old, self._old), self._open(new, self._new)
        if depth > _SAMPLES_DEPTH:
            return
        if "enum" in old or "const" in old:
            yield from list_of(old["enum"]) if "enum" in old else [old["const"]]
            return
        for key in ("anyOf", "oneOf", "allOf"):
            for each in list_of(old.get(key)):
                rest = {name: other for name, other in old.items() if name != key}
                yield from self.samples({**rest, **self._open(each, self._old)}, new, depth + 1)
        yield from _alternate([self._of_kind(kind, old, new, depth) for kind in _kinds(old)])

    def _open(self, schema: Json, root: Json) -> Object:
        for _ in range(_SAMPLES_DEPTH):
            body = object_of(schema) if isinstance(schema, dict) else {}
            reference = body.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return body
            schema = root
            for part in reference.removeprefix("#").split("/")[1:]:
                schema = object_of(schema).get(part) if isinstance(schema, dict) else None
        return {}

    def _of_kind(self, kind: str, old: Object, new: Object, depth: int) -> Iterator[Json]:
        match kind:
            case "object":
                yield from self._objects(old, new, depth)
            case "array":
                yield from self._arrays(old, new, depth)
            case "string":
                yield from ("x", "", *("x" * size for size in _sizes("Length", old, new)))
            case "number" | "integer":
                yield from _numbers(old, new, whole=kind == "integer")
            case "boolean":
                yield from (True, False)
            case _:
                yield None

    def _objects(self, old: Object, new: Object, depth: int) -> Iterator[Json]:
        declared, wanted = object_of(old.get("properties")), object_of(new.get("properties"))
        choices: dict[str, list[Json]] = {}
        for name in dict.fromkeys((*declared, *wanted, *map(str, list_of(new.get("required"))))):
            part = declared.get(name, old.get("additionalProperties", {}))
            made = self.samples(part, wanted.get(name, new.get("additionalProperties", {})), depth + 1)
            choices[name] = [] if part is False else [*islice(made, _EACH)]
        needed = [str(name) for name in list_of(old.get("required"))]
        base: dict[str, Json] = {name: choices.get(name, [*_ANY])[0] for name in needed if choices.get(name, [1])}
        full = base | {name: some[0] for name, some in choices.items() if some}
        yield from (base, full)
        for name, some in choices.items():
            yield from ({**base, name: each} for each in some)
            yield {other: each for other, each in full.items() if other != name}
        yield from ({**base, "anything else": each} for each in _ANY)
        yield from ({**base, **{f"member {at}": "x" for at in range(size)}} for size in _sizes("Properties", old, new))

    def _arrays(self, old: Object, new: Object, depth: int) -> Iterator[Json]:
        part = old.get("items", {})
        some = [*islice(self.samples(part, new.get("items", {}), depth + 1), _EACH)] or ["x"]
        yield []
        yield from ([each] for each in some)
        yield from ([some[0]] * size for size in _sizes("Items", old, new))
        if new.get("uniqueItems") is True:
            yield [some[0]] * 2
        yield [*some]


def _alternate(sources: list[Iterator[Json]]) -> Iterator[Json]:
    """Yield one value of each source, then the next of each."""
    while sources:
        for each in [*sources]:
            found = [*islice(each, 1)]
            yield from found
            if not found:
                sources.remove(each)


def _kinds(schema: Object) -> list[str]:
    said = schema.get("type")
    if said is None:
        likely = [kind for kind, keys in _TELLING.items() if not keys.isdisjoint(schema)]
        return [*likely, "string", "number", "null", "boolean", *(["array", "object"] if not likely else [])]
    return [said] if isinstance(said, str) else [str(each) for each in list_of(said)]


_TELLING = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "array": {"items", "minItems", "maxItems"},
}


def _sizes(what: str, old: Object, new: Object) -> Iterator[int]:
    """Yield numbers of characters, elements or members at the bounds of both schemas, and beside them."""
    for each in (old, new):
        for key in (f"min{what}", f"max{what}"):
            bound = each.get(key)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                yield from (size for size in (int(bound) - 1, int(bound), int(bound) + 1) if 0 <= size <= _LONG)


def _numbers(old: Object, new: Object, *, whole: bool) -> Iterator[Json]:
    yield from (0, 1, -1)
    for each in (old, new):
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            bound = each.get(key)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                yield from (bound, bound - 1, bound + 1)
    if not whole:
        yield from (0.5, 1.5, -0.5)


_STEPS = 4_000
"""Comparisons of parts after which nothing is known."""
_INCLUSION_DEPTH = 24
"""Parts inside each other that are followed."""


@value
class Inclusion:
    """Whether a schema accepts all that another accepts; `witness` is a value that shows that it does not.

    Where it is not known, `doubt` is the first keyword of which it is not.
    """

    holds: bool | None
    witness: Json = None
    doubt: str | None = None


ValueJudge = Callable[[Json], bool]
"""Tells whether a schema accepts a value."""


def find_inclusion(old: Object, new: Object, prepare: Callable[[Object], ValueJudge | None]) -> Inclusion:
    """Return whether the new schema accepts all that the old one accepts; both are whole in themselves.

    `prepare` returns what judges values by a schema, nothing for one that cannot be used.
    """
    proof = _Proof(old, new)
    if proof.holds():
        return Inclusion(holds=True)
    accepts, keeps = prepare(old), prepare(new)
    if accepts is None or keeps is None:
        return Inclusion(None, doubt=proof.doubt)
    samples = list_samples(old, new)
    for each in samples:
        if accepts(each) and not keeps(each):
            return Inclusion(holds=False, witness=each)
    listed = list_of(old.get("enum", [old["const"]] if "const" in old else []))
    is_every = bool(listed) and "$ref" not in old and len(samples) == len(listed)  # then these are all that it accepts
    return Inclusion(holds=True) if is_every else Inclusion(None, doubt=proof.doubt)


class _OutOfPatienceError(Exception):
    """More would have to be compared than anybody writes."""


_SILENT = frozenset(
    {
        *("$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "definitions", "$defs"),
        *("deprecated", "readOnly", "writeOnly", "then", "else"),
    }
)
"""Keywords that refuse no value by themselves."""
_EXACT = frozenset(
    {
        *("pattern", "uniqueItems", "multipleOf", "propertyNames", "dependencies", "dependentRequired", "not"),
        *("dependentSchemas", "oneOf", "format", "prefixItems", "patternProperties"),
    }
)
"""Keywords that are known to hold where the old schema has the same."""
_UNKNOWN = frozenset(
    {
        *("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "contains", "minContains"),
        *("maxContains", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "$vocabulary"),
    }
)
"""Keywords of which nothing is proved."""
_JUDGING_FORMATS = ("draft-04", "draft-06", "draft-07")
"""Drafts in which a format refuses values; in later ones it is a note."""
_BRANCHES = ("anyOf", "oneOf")
_TYPES = ("null", "boolean", "number", "string", "array", "object")


class _Proof:
    """Shows that one schema accepts all that another accepts; what it cannot show is left open."""

    def __init__(self, old: Object, new: Object) -> None:
        self.doubt: str | None = None
        self._roots = (old, new)
        self._notes_formats = not any(each in str(new.get("$schema")) for each in _JUDGING_FORMATS)
        self._steps = 0
        texts = [json.dumps(each.get("definitions")) + json.dumps(each.get("$defs")) for each in (old, new)]
        self._is_shared = texts[0] == texts[1] and '"#"' not in texts[0]
        self._checks: Mapping[str, Callable[[Layers, Json, Object, int], bool]] = {
            "type": self._type,
            "properties": self._properties,
            "required": self._find_required,
            "additionalProperties": self._others,
            "items": self._items,
            "allOf": self._all,
            "anyOf": self._any,
            "if": self._condition,
            "$ref": self._reference,
        }

    def holds(self) -> bool:
        """Tell whether it is shown."""
        old, new = self._roots
        dialects = {str(each.get("$schema")).rstrip("#") for each in self._roots}
        text = json.dumps(old) + json.dumps(new)
        if len(dialects) > 1 or text.count('"$id"') > sum("$id" in each for each in self._roots):
            return False
        try:
            return self._implies((old,), new, 0)
        except _OutOfPatienceError:
            return False

    def _implies(self, given: Layers, new: Json, depth: int) -> bool:
        """Tell whether a value that satisfies some layers certainly satisfies a schema."""
        self._steps += 1
        if self._steps > _STEPS or depth > _INCLUSION_DEPTH:
            raise _OutOfPatienceError
        layers = tuple(self._flatten(given))
        if new is True or any(each is False or self._is_same(each, new) for each in layers):
            return True
        if not isinstance(new, dict):
            return False
        return self._imply_keywords(layers, new, depth) or self._split(layers, new, depth)

    def _imply_keywords(self, layers: Layers, new: Object, depth: int) -> bool:
        failing = (key for key in new if key not in _SILENT and not self._imply_keyword(layers, key, new, depth))
        found = next(failing, None)
        self.doubt = self.doubt or found
        return found is None

    def _imply_keyword(self, layers: Layers, key: str, new: Object, depth: int) -> bool:
        wanted = new[key]
        if key in _UNKNOWN:
            return False
        if key == "format" and self._notes_formats:
            return True
        if key in _EXACT:
            return any(isinstance(each, dict) and key in each and self._is_same(each[key], wanted) for each in layers)
        if key in {"enum", "const"}:
            return self._among(layers, list_of(wanted) if key == "enum" else [wanted])
        if key in LEAST or key in MOST or key in {"exclusiveMinimum", "exclusiveMaximum"}:
            return is_bounded(layers, key, wanted)
        check = self._checks.get(key)
        return check is None or check(layers, wanted, new, depth + 1)

    def _flatten(self, layers: Layers) -> Iterator[Json]:
        """Yield layers with what they refer to and combine; beside a reference, older dialects read nothing."""
        todo = [*layers]
        for each in todo:  # grows while it is walked
            if len(todo) > _STEPS:
                raise _OutOfPatienceError
            if isinstance(each, dict) and "$ref" in each:
                target = look_up(self._roots[0], each["$ref"])
                todo += [] if target is None or any(target is other for other in todo) else [target]
                yield {"$ref": each["$ref"]}
                continue
            yield each
            todo += list_of(object_of(each).get("allOf")) if isinstance(each, dict) else []

    def _is_same(self, old: Json, new: Json) -> bool:
        if not equal(old, new):
            return False
        text = json.dumps(new)
        if "Ref" in text or '"$ref"' not in text:
            return "Ref" not in text
        inside = text.count('"#/definitions/') + text.count('"#/$defs/')
        return self._is_shared and text.count('"$ref"') == inside

    def _split(self, layers: Layers, new: Object, depth: int) -> bool:
        """Look at each way in which the old schema can be satisfied."""
        for at, layer in enumerate(layers):
            for key in _BRANCHES:
                branches = list_of(object_of(layer).get(key)) if isinstance(layer, dict) else []
                if branches:
                    rest = {name: each for name, each in object_of(layer).items() if name != key}
                    others = (*layers[:at], rest, *layers[at + 1 :])
                    return all(self._implies((*others, branch), new, depth + 1) for branch in branches)
        types = find_types(layers)
        if "anyOf" in new and types is not None and len(types) > 1:
            return all(self._implies((*layers, {"type": each}), new, depth + 1) for each in types)
        return False

    def _type(self, layers: Layers, wanted: Json, _new: Object, _depth: int) -> bool:
        allowed = {wanted} if isinstance(wanted, str) else {str(each) for each in list_of(wanted)}
        allowed |= {"integer"} if "number" in allowed else set()
        types = find_types(layers)
        return types is not None and types <= allowed

    def _among(self, layers: Layers, wanted: list[Json]) -> bool:
        """Tell whether one layer lists its values, and all of those that the other layers leave are wanted."""
        types = find_types(layers)
        for each in layers:
            body = object_of(each) if isinstance(each, dict) else {}
            listed = list_of(body["enum"]) if "enum" in body else [body["const"]] if "const" in body else None
            if listed is not None:
                left = [one for one in listed if types is None or name_type(one) in types]
                return all(any(equal(one, other) for other in wanted) for one in left)
        return types == {"boolean"} and all(any(equal(one, other) for other in wanted) for one in (True, False))

    def _properties(self, layers: Layers, wanted: Json, _new: Object, depth: int) -> bool:
        if not may_be(layers, "object"):
            return True
        return all(
            self._implies(list_member_layers(layers, name), each, depth) for name, each in object_of(wanted).items()
        )

    def _find_required(self, layers: Layers, wanted: Json, _new: Object, _depth: int) -> bool:
        if not may_be(layers, "object"):
            return True
        known = {name for each in layers if isinstance(each, dict) for name in list_of(each.get("required"))}
        return all(name in known for name in list_of(wanted))

    def _others(self, layers: Layers, wanted: Json, new: Object, depth: int) -> bool:
        """Tell whether every member that the new schema does not name satisfies what it says of others."""
        if not may_be(layers, "object"):
            return True
        if "patternProperties" in new:
            return False
        named = object_of(new.get("properties"))
        declared = {name for each in layers if isinstance(each, dict) for name in object_of(each.get("properties"))}
        others = [name for name in declared if name not in named]
        # a name that nobody has stands for all others
        stranger = "".join((*declared, *named, "?"))
        return all(self._implies(list_member_layers(layers, name), wanted, depth) for name in (*others, stranger))

    def _items(self, layers: Layers, wanted: Json, new: Object, depth: int) -> bool:
        if not may_be(layers, "array"):
            return True
        plain = [each for each in layers if isinstance(each, dict) and isinstance(each.get("items"), dict | bool)]
        if isinstance(wanted, list) or "prefixItems" in new or any("prefixItems" in object_of(each) for each in plain):
            return any(
                self._is_same(object_of(each).get("items"), wanted) for each in plain if "prefixItems" not in new
            )
        return self._implies(tuple(object_of(each)["items"] for each in plain), wanted, depth)

    def _all(self, layers: Layers, wanted: Json, _new: Object, depth: int) -> bool:
        return all(self._implies(layers, each, depth) for each in list_of(wanted))

    def _any(self, layers: Layers, wanted: Json, _new: Object, depth: int) -> bool:
        return any(self._implies(layers, each, depth) for each in list_of(wanted))

    def _condition(self, layers: Layers, _wanted: Json, new: Object, _depth: int) -> bool:
        keys = ("if", "then", "else")
        return any(
            all(self._is_same(each.get(key), new.get(key)) for key in keys) for each in layers if isinstance(each, dict)
        )

    def _reference(self, layers: Layers, wanted: Json, _new: Object, depth: int) -> bool:
        target = look_up(self._roots[1], wanted)
        return target is not None and self._implies(layers, target, depth)
