"""Make a simple value that satisfies a JSON Schema, and has the required values, so that nobody has to type it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Key
from stagec.core.value import value
from stagec.runtime import Program
from stagec.runtime.json_values import MISSING
from stagec.world.regex_samples import make_matching_text

_DEEPEST = 12
"""Objects inside each other that are made; a schema that wants more wants no end."""

_MOST = 2_000
"""Values that are made for one answer; nobody reads more."""

_ALTERNATIVES = 4
"""Which of the values that a schema lists, and of its alternatives, are tried one after the other."""


@value
class RequiredValue:
    """What is to stand at a path; with `absent`, nothing."""

    path: tuple[Key, ...]
    value: Json = None
    absent: bool = False


def make_sample(program: Program, schema: str | None, required: Iterable[RequiredValue]) -> Json | None:
    """Return a value that satisfies the schema of a content, as wished; nothing when none can be made up simply."""
    return next(make_samples(program, schema, required), None)


def make_samples(program: Program, schema: str | None, required: Iterable[RequiredValue]) -> Iterator[Object]:
    """Yield different objects that satisfy the schema of a content, as wished, the simplest one first."""
    wanted = tuple(required)
    seen: list[Json] = []
    for maker in _list_makers(program, schema):
        made = maker.simplest(maker.root, 0)
        found = dict(made) if isinstance(made, dict) else {}
        for each in wanted:
            maker.put(found, each)
        if found not in seen and program.answer_schemas.complaint(schema, found) is None:
            yield found
        seen.append(found)


def make_value(program: Program, schema: str | None) -> Json:
    """Return a value of any kind that satisfies the schema of a content; `MISSING` when none can be made up simply."""
    if schema is None:
        return "text"
    made = (maker.simplest(maker.root, 0) for maker in _list_makers(program, schema))
    found: Json = next((each for each in made if program.answer_schemas.complaint(schema, each) is None), MISSING)
    return found


def _list_makers(program: Program, schema: str | None) -> Iterator[_Maker]:
    """Yield what makes values by a schema: with the members that it demands, with all, and with other alternatives."""
    root = {} if schema is None else json.loads(program.plan.contents[schema])
    for alternative in range(_ALTERNATIVES):
        for is_full in (False, True):
            yield _Maker(root if isinstance(root, dict) else {}, alternative, is_full=is_full)


class _Maker:
    """Makes values by one schema, which refers to nothing but parts of itself."""

    def __init__(self, root: Mapping[str, Any], alternative: int = 0, *, is_full: bool = False) -> None:
        self.root = root
        self._alternative, self._is_full = alternative, is_full
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
                return self._choose(expanded[listed])
        if "default" in expanded:
            return expanded["default"]
        return self._of_kind(_find_type(expanded), expanded, depth)

    def put(self, found: Any, each: RequiredValue) -> None:
        """Put what is wished where it is wished; objects on the way there are made."""
        *way, last = each.path
        schema: Any = self.root
        for key in way:
            if not isinstance(found, dict):
                return
            schema = self._member(schema, key)
            if not isinstance(found.get(str(key)), dict):
                made_up = self.simplest(schema, len(way))
                found[str(key)] = made_up if isinstance(made_up, dict) else {}
            found = found[str(key)]
        if each.absent:
            found.pop(str(last), None)
        elif isinstance(found, dict):
            found[str(last)] = each.value

    def _of_kind(self, kind: str, expanded: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                wanted = list_of(expanded.get("required")) if depth < _DEEPEST else []
                if self._is_full:
                    wanted = list(dict.fromkeys((*wanted, *object_of(expanded.get("properties")))))
                return {str(name): self.simplest(self._member(expanded, str(name)), depth + 1) for name in wanted}
            case "array":
                first = list_of(expanded.get("prefixItems"))
                count = max(int(min(expanded.get("minItems", 0), _DEEPEST)), len(first), int(self._is_full))
                parts = (*first, *[expanded.get("items", {})] * (count - len(first)))
                made = [self.simplest(each, depth + 1) for each in parts[:count]]
                return [self._number(each, at) for at, each in enumerate(made)] if expanded.get("uniqueItems") else made
            case "string":
                return self._write_text(expanded)
            case "integer" | "number":
                return self._find_number(expanded)
            case _:
                return False if kind == "boolean" else None

    def _find_number(self, expanded: Mapping[str, Any]) -> Any:
        """Return a number between the bounds of a schema, next to one of them where 0 is none of these numbers."""
        least, most = (
            expanded.get("minimum", expanded.get("exclusiveMinimum")),
            expanded.get("maximum", expanded.get("exclusiveMaximum")),
        )
        if least is not None:
            number: float = least + ("minimum" not in expanded)
        else:
            number = 0 if most is None or most > 0 else most - ("maximum" not in expanded)
        step = expanded.get("multipleOf")
        return -(-number // step) * step if step else number

    def _number(self, given: Json, at: int) -> Json:
        """Return a value as the one of a place in a list whose values all differ."""
        if isinstance(given, str) and at:
            return f"{given}{at}"
        return given + at if isinstance(given, int | float) and not isinstance(given, bool) else given

    def _write_text(self, expanded: Mapping[str, Any]) -> str:
        """Return a text of the length, the format or the pattern that a schema asks for."""
        pattern, form = expanded.get("pattern"), expanded.get("format")
        text = _FORMATS.get(form, "text") if isinstance(form, str) else "text"
        if isinstance(pattern, str):
            text = make_matching_text(pattern)
        least, most = (expanded.get(name, other) for name, other in (("minLength", 0), ("maxLength", 1_000)))
        filler = text[-1:] if pattern is not None and text else "."
        return text.ljust(int(min(least, 1_000)), filler)[: int(min(most, 1_000))]

    def _choose(self, listed: Any) -> Any:
        """Return one of some values or alternatives, the last of them where there are fewer."""
        return listed[min(self._alternative, len(listed) - 1)]

    def _member(self, schema: Any, key: Key) -> Any:
        expanded = self._resolve(schema, 0)
        return object_of(expanded.get("properties")).get(str(key), expanded.get("additionalProperties", {}))

    def _resolve(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """Return a schema with what it refers to and chooses from written out, as far as that is simple."""
        expanded = dict(object_of(schema))
        for _ in range(_DEEPEST):
            others: list[Json] = [self._at(expanded.pop("$ref"))] if "$ref" in expanded else []
            others += list_of(expanded.pop("allOf", None))
            others += [self._choose(each) for name in ("anyOf", "oneOf") if (each := list_of(expanded.pop(name, None)))]
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


_FORMATS: Mapping[str, str] = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "uri-reference": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.org",
}
"""A text of each format that schemas commonly name."""
