"""JSON Schemas of answers, made at random: what has to stand at some paths, said in one of many ways."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

Json = Any


class Leaf(NamedTuple):
    """What stands at a path: one of some values, or anything of a type; and whether it has to be there."""

    values: tuple[Json, ...] | None
    required: bool = True


VALUES: tuple[tuple[Json, ...], ...] = (
    ("small", "large"),
    ("a", "b", "c"),
    ("x", "next", "default"),
    (True, False),
    (1, 2),
    (1, 2.5, "1.0"),
    (1.0, "x"),
    ("a", None),
    (None, True, "null"),
    (0, False, ""),
    (3,),
    ("only",),
    ("é", "ß/~1"),
    (10**16, "x"),
    (1e21, 0.1, -1),
    (1, 2, 3),
    (4, 5, 6, 7),
    ([1, 2], "x"),
    ({"a": 1, "b": 2}, "x"),
)
"""What answers may be asked to choose among."""
_OPEN: tuple[Json, ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 2},
    {"type": "integer"},
    {"type": "integer", "minimum": 1, "maximum": 3},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": ["string", "null"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"a": {"enum": [1, 2]}}},
    {},
    True,
    {"not": {"const": "x"}},
)


class SchemaMaker:
    """Makes schemas; `wild` is how often something unusual is said, from 0 to 1. `shared` are parts referred to."""

    def __init__(self, random: Random, wild: float, at: str) -> None:
        self._random = random
        self._wild = wild
        self._at = at
        self.shared: dict[str, Json] = {}

    def whole(self, leaves: dict[str, Leaf]) -> Json:
        """Return the schema of an object with these leaves, by their dotted paths."""
        schema = self._node(_tree(leaves), root=True)
        return self._split(schema) if self._odd() else schema

    def leaf(self, leaf: Leaf) -> Json:
        """Return the schema of a leaf."""
        if leaf.values is None:
            return self._random.choice(_OPEN)
        return self._chosen([*leaf.values])

    def _odd(self) -> bool:
        return self._random.random() < self._wild

    def _node(self, tree: dict[str, Any], *, root: bool = False) -> Json:
        if [*tree] == ["0"]:
            return self._list(tree["0"])
        schema: dict[str, Json] = {} if not root and self._odd() and self._odd() else {"type": "object"}
        schema["required"] = [name for name, each in tree.items() if _is_required(each)]
        schema["properties"] = {name: self._member(each) for name, each in tree.items()}
        if self._odd():
            schema["properties"]["noise"] = self._random.choice(_OPEN)
        if self._odd():
            schema["additionalProperties"] = self._random.choice((False, False, {"type": "string"}, True))
        if self._odd() and self._odd():
            schema |= self._random.choice(_UNUSUAL)
        return schema

    def _list(self, given: Any) -> Json:
        """Return the schema of a list by whose first element something is chosen."""
        element = self._member(given)
        least = {"minItems": 1} if _is_required(given) else {}
        return self._random.choice(
            (
                {"type": "array", "items": element, **least},
                {"type": "array", "prefixItems": [element], **least},
                {"type": "array", "prefixItems": [element, {}], "items": False, **least},
                {"type": "array", "items": element, "maxItems": 2, **least},
                {"items": element, **least},
            )
        )

    def _member(self, given: Any) -> Json:
        schema = self.leaf(given) if isinstance(given, Leaf) else self._node(given)
        return self._referred(schema) if self._odd() and self._odd() else schema

    def _referred(self, schema: Json) -> Json:
        name = f"part{len(self.shared)}"
        self.shared[name] = schema
        return {"$ref": f"{self._at}{name}"}

    def _split(self, schema: Json) -> Json:
        """Return a schema that says the same in several parts."""
        properties = schema["properties"]
        names = [name for name in properties if self._random.random() < 0.5]
        inner = {
            "properties": {name: properties[name] for name in names},
            "required": [name for name in schema["required"] if name in names],
        }
        rest = {name: each for name, each in properties.items() if name not in names}
        outer = {**schema, "properties": rest, "required": [name for name in schema["required"] if name not in names]}
        match self._random.randrange(5):
            case 0:
                return {**schema, "allOf": [inner]}
            case 1 if "additionalProperties" not in schema:
                return {**outer, "allOf": [self._referred(inner)]}
            case 2:
                return {**schema, "if": {"required": names[:1]}, "then": inner}
            case 3:
                return {"allOf": [{"type": "object"}, schema]}
            case _:
                return self._alternatives(schema)

    def _alternatives(self, schema: Json) -> Json:
        """Return a schema with a branch for each value of one of its members."""
        lists = [
            name
            for name, each in schema["properties"].items()
            if isinstance(each, dict) and len(each.get("enum", ())) > 1
        ]
        if not lists:
            return schema
        name = self._random.choice(lists)
        branches = [
            {"properties": {name: {"const": each}}, "required": [name] if self._random.random() < 0.7 else []}
            for each in schema["properties"][name]["enum"]
        ]
        for branch in branches:
            if self._odd():
                other = self._random.choice(list(schema["properties"]))
                branch["required"] = [*dict.fromkeys((*branch["required"], other))]
        return {**schema, self._random.choice(("oneOf", "anyOf")): branches}

    def _chosen(self, values: list[Json]) -> Json:
        """Return a schema that leaves one of some values."""
        plain: Json = {"enum": values}
        if not self._odd():
            return {"type": "boolean"} if values == [True, False] and self._random.random() < 0.5 else plain
        if all(type(each) is int for each in values) and values == list(range(values[0], values[-1] + 1)):
            bounds = {"minimum": values[0], "maximum": values[-1]}
            open_bounds = {"exclusiveMinimum": values[0] - 1, "exclusiveMaximum": values[-1] + 0.5}
            return {"type": "integer", **self._random.choice((bounds, bounds, open_bounds))}
        half = max(1, len(values) // 2)
        texts = all(isinstance(each, str) for each in values)
        return self._random.choice(
            (
                plain,
                {"const": values[0]} if len(values) == 1 else plain,
                {"type": "string", **plain} if texts else plain,
                {"oneOf": [{"const": each} for each in values]},
                {"anyOf": [{"enum": values[:half]}, {"enum": values[half:] or values}]},
                {"allOf": [{"enum": [*values, "never"]}, plain]},
                {"enum": [*values, "never"], "not": {"const": "never"}},
                {
                    "enum": [*values, 7],
                    "type": ["string", "boolean", "null", "number", "array", "object"],
                    "not": {"const": 7},
                },
            )
        )


_UNUSUAL: tuple[dict[str, Json], ...] = (
    {"patternProperties": {"^x": {"type": "string"}}},
    {"patternProperties": {"[a-z]+": {}}},
    {"dependentRequired": {"noise": ["extra"]}},
    {"dependentSchemas": {"noise": {"required": ["extra"]}}},
    {"minProperties": 1},
    {"maxProperties": 12},
    {"propertyNames": {"pattern": "^[a-z_]+$"}},
    {"unevaluatedProperties": False},
    {"not": {"required": ["forbidden"]}},
)


def _tree(leaves: dict[str, Leaf]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, leaf in leaves.items():
        *names, last = path.split(".")
        at = tree
        for name in names:
            at = at.setdefault(name, {})
        at[last] = leaf
    return tree


def _is_required(given: Any) -> bool:
    return given.required if isinstance(given, Leaf) else any(map(_is_required, given.values()))
