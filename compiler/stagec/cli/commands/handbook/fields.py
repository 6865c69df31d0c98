"""What a JSON Schema asks for, field by field, for people who do not read JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.value import value

_DEEPEST = 6
"""Levels of fields inside fields that are listed; the whole schema stands below the table."""
_DEEPEST_WORDS = 3
"""Levels of lists and choices that one description goes into."""
_MOST = 200
"""Fields of one table."""
_LONGEST = 12
"""Values of an enumeration that are listed."""


@value
class Field:
    """One field of an answer: its path, what it must be, in words, and what its author says of it."""

    path: str
    kind: str
    is_required: bool
    about: str


class FieldTable:
    """The fields of a schema in the order in which it declares them, those of a field below it."""

    def __init__(self, text: str) -> None:
        self.schema = json.loads(text)
        self.text = json.dumps(self.schema, indent=2, ensure_ascii=False)
        self.fields: list[Field] = []
        self._add(self.schema, "", 0)
        self.has_meanings = any(each.about for each in self.fields)

    def _add(self, schema: Any, above: str, depth: int) -> None:
        """List the members of an object, and of the objects in a list, as far as they have names."""
        required: set[str] = set()
        members: dict[str, Any] = {}
        for part in self._list_parts(schema):
            required.update(part.get("required", ()))
            members.update(part.get("properties", {}))
        for name, inner in members.items():
            if len(self.fields) >= _MOST:
                return
            path = f"{above}{name}"
            self.fields.append(Field(path, self.describe(inner), name in required, self._find_description(inner)))
            if depth < _DEEPEST:
                self._add(inner, f"{path} → ", depth + 1)
                for items in [part.get("items") for part in self._list_parts(inner)]:
                    self._add(items, f"{path}, each → ", depth + 1)

    def _list_parts(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """Yield a schema, what it refers to inside of this document, and the parts that all hold of it."""
        seen: list[int] = []
        todo = [schema]
        while todo:
            part = todo.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.append(id(part))
            yield part
            todo += reversed([self._follow(part.get("$ref")), *part.get("allOf", ())])

    def _follow(self, reference: Any) -> Any:
        """Return what a reference inside of the document leads to; nothing where it leads elsewhere."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return self.schema if reference == "#" else None
        found = self.schema
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, dict) and key in found:
                found = found[key]
            else:
                return None
        return found

    def _find_description(self, schema: Any) -> str:
        found = (part.get("description", part.get("title")) for part in self._list_parts(schema))
        return next((each for each in found if isinstance(each, str)), "")

    def describe(self, schema: Any, depth: int = 0) -> str:
        """Return in words what a value must be: its type, its values and its bounds; a schema may be inside itself."""
        if schema is False:
            return "must be absent"
        if depth > _DEEPEST_WORDS:
            return "…"
        kinds: list[str] = []
        bounds: list[str] = []
        for part in self._list_parts(schema):
            kinds += (each for each in self._list_kinds(part, depth + 1) if each not in kinds)
            told = {key: part[key] for key in _BOUNDS if not isinstance(part.get(key, True), bool)}
            bounds += (_BOUNDS[key].format(_show(each)) for key, each in told.items())
        return ", ".join([" and ".join(kinds) or "any value", *bounds])

    def _list_kinds(self, part: Mapping[str, Any], depth: int) -> Iterator[str]:
        if "const" in part:
            yield f"exactly {_show(part['const'])}"
        elif "enum" in part:
            listed = [_show(each) for each in part["enum"][:_LONGEST]]
            more = len(part["enum"]) - len(listed)
            yield f"one of {', '.join(listed)}{f' and {more} more' if more else ''}"
        elif "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            words = " or ".join(_TYPES.get(each, str(each)) for each in types)
            items = part.get("items")
            yield (
                f"{words} of: {self.describe(items, depth)}"
                if types == ["array"] and isinstance(items, dict)
                else words
            )
        for key in ("oneOf", "anyOf"):
            ways = [self.describe(each, depth) for each in part.get(key, ())[:_LONGEST]]
            if ways and len(set(ways)) > 1:
                yield f"either {', or '.join(dict.fromkeys(ways))}"


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "group of fields",
    "null": "empty",
}

_BOUNDS = {
    "minLength": "{} or more characters",
    "maxLength": "up to {} characters",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "{} or more entries",
    "maxItems": "up to {} entries",
    "pattern": "of the form {}",
    "format": "format {}",
}


def _show(given: Any) -> str:
    return f"“{given}”" if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
