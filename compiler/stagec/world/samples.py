"""Make a simple value that satisfies a JSON Schema, and some wishes besides, so that nobody has to type it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.json import Json, list_of, object_of
from stagec.core.place import Key
from stagec.core.value import value
from stagec.runtime import Program

_DEEPEST = 12
"""Objects inside each other that are made; a schema that wants more wants no end."""

_MOST = 2_000
"""Values that are made for one answer; nobody reads more."""


@value
class Wish:
    """What is to stand at a path; with `absent`, nothing."""

    path: tuple[Key, ...]
    value: Json = None
    absent: bool = False


def make_sample(program: Program, schema: str | None, wishes: Iterable[Wish]) -> Json | None:
    """Return a value that satisfies the schema of a content, as wished; nothing when none can be made up simply."""
    root = {} if schema is None else json.loads(program.plan.contents[schema])
    maker = _Maker(root if isinstance(root, dict) else {})
    found = maker.simplest(maker.root, 0)
    found = found if isinstance(found, dict) else {}
    for wish in wishes:
        maker.put(found, wish)
    return found if program.answer_schemas.complaint(schema, found) is None else None


class _Maker:
    """Makes values by one schema, which refers to nothing but parts of itself."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._left = _MOST

    def simplest(self, schema: Any, depth: int) -> Any:
        """Return the simplest value that a schema seems to allow, nothing where it wants no end."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return None
        expanded = self._resolve(schema, depth)
        if "const" in expanded:
            return expanded["const"]
        for listed in ("enum", "examples"):
            if list_of(expanded.get(listed)):
                return expanded[listed][0]
        if "default" in expanded:
            return expanded["default"]
        return self._of_kind(_find_type(expanded), expanded, depth)

    def put(self, found: Any, wish: Wish) -> None:
        """Put what is wished where it is wished; objects on the way there are made."""
        *way, last = wish.path
        schema: Any = self.root
        for key in way:
            if not isinstance(found, dict):
                return
            schema = self._member(schema, key)
            if not isinstance(found.get(str(key)), dict):
                made_up = self.simplest(schema, len(way))
                found[str(key)] = made_up if isinstance(made_up, dict) else {}
            found = found[str(key)]
        if wish.absent:
            found.pop(str(last), None)
        elif isinstance(found, dict):
            found[str(last)] = wish.value

    def _of_kind(self, kind: str, expanded: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                wanted = list_of(expanded.get("required")) if depth < _DEEPEST else []
                return {str(name): self.simplest(self._member(expanded, str(name)), depth + 1) for name in wanted}
            case "array":
                count = int(min(expanded.get("minItems", 0), _DEEPEST))
                return [self.simplest(expanded.get("items", {}), depth + 1) for _ in range(count)]
            case "string":
                least, most = (expanded.get(name, other) for name, other in (("minLength", 0), ("maxLength", 1_000)))
                return "text".ljust(int(min(least, 1_000)), ".")[: int(min(most, 1_000))]
            case "integer" | "number":
                least, most = (
                    expanded.get("minimum", expanded.get("exclusiveMinimum")),
                    expanded.get("maximum", expanded.get("exclusiveMaximum")),
                )
                if least is not None:
                    number: float = least + ("minimum" not in expanded)
                    return number
                return 0 if most is None or most > 0 else most - ("maximum" not in expanded)
            case _:
                return False if kind == "boolean" else None

    def _member(self, schema: Any, key: Key) -> Any:
        expanded = self._resolve(schema, 0)
        return object_of(expanded.get("properties")).get(str(key), expanded.get("additionalProperties", {}))

    def _resolve(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """Return a schema with what it refers to and chooses from written out, as far as that is simple."""
        expanded = dict(object_of(schema))
        for _ in range(_DEEPEST):
            others: list[Json] = [self._at(expanded.pop("$ref"))] if "$ref" in expanded else []
            others += list_of(expanded.pop("allOf", None))
            others += [each[0] for name in ("anyOf", "oneOf") if (each := list_of(expanded.pop(name, None)))]
            if not others or depth > _DEEPEST:
                break
            for other in others:
                expanded = _join(expanded, object_of(other))
        return expanded

    def _at(self, reference: Any) -> Json:
        found: Any = self.root
        for part in str(reference).removeprefix("#").split("/")[1:]:
            found = object_of(found).get(part.replace("~1", "/").replace("~0", "~"))
        return found if isinstance(found, dict) else {}


def _join(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two schemas ask for together, as far as that is simple."""
    joined = {**other, **one}
    if "required" in one and "required" in other:
        joined["required"] = [*list_of(one["required"]), *list_of(other["required"])]
    if "properties" in one and "properties" in other:
        joined["properties"] = {**object_of(other["properties"]), **object_of(one["properties"])}
    return joined


def _find_type(expanded: Mapping[str, Any]) -> str:
    kind = expanded.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if {"properties", "required"} & set(expanded) else "array" if "items" in expanded else "string"
