"""Whether every value that one JSON Schema accepts is accepted by another: proved, refuted by a value, or not known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from stagec.comparison.layers import (
    LEAST,
    MOST,
    Layers,
    find_types,
    is_bounded,
    list_member_layers,
    look_up,
    may_be,
    name_type,
)
from stagec.comparison.samples import list_samples
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.value import value
from stagec.plan.costs import schema_in
from stagec.runtime.answer_schemas import PreparedSchema, prepare
from stagec.runtime.json_values import equal

_STEPS = 4_000
"""Comparisons of parts after which nothing is known."""
_DEPTH = 24
"""Parts inside each other that are followed."""


@value
class Inclusion:
    """Whether a schema accepts all that another accepts; `witness` is a value that shows that it does not."""

    holds: bool | None
    witness: Json = None


def find_inclusion(old: str | None, new: str | None) -> Inclusion:
    """Return whether the new schema accepts all that the old one accepts; no schema accepts everything."""
    before, after = (schema_in("{}" if each is None else each)[0] for each in (old, new))
    if _Proof(before, after).holds():
        return Inclusion(holds=True)
    judges = [_prepare(each) for each in (before, after)]
    if None in judges:
        return Inclusion(None)
    accepts, refuses = judges
    for each in list_samples(before, after):
        if accepts and refuses and accepts.complaint(each) is None and refuses.complaint(each) is not None:
            return Inclusion(holds=False, witness=each)
    return Inclusion(None)


def _prepare(schema: Json) -> PreparedSchema | None:
    with suppress(ValueError, RecursionError):
        return prepare(json.dumps(schema))
    return None


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
_BRANCHES = ("anyOf", "oneOf")
_TYPES = ("null", "boolean", "number", "string", "array", "object")


class _Proof:
    """Shows that one schema accepts all that another accepts; what it cannot show is left open."""

    def __init__(self, old: Object, new: Object) -> None:
        self._roots = (old, new)
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
        if self._steps > _STEPS or depth > _DEPTH:
            raise _OutOfPatienceError
        layers = tuple(self._flatten(given))
        if new is True or any(each is False or self._is_same(each, new) for each in layers):
            return True
        if not isinstance(new, dict):
            return False
        return self._imply_keywords(layers, new, depth) or self._split(layers, new, depth)

    def _imply_keywords(self, layers: Layers, new: Object, depth: int) -> bool:
        return all(self._imply_keyword(layers, key, new, depth) for key in new if key not in _SILENT)

    def _imply_keyword(self, layers: Layers, key: str, new: Object, depth: int) -> bool:
        wanted = new[key]
        if key in _UNKNOWN:
            return False
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
