"""Schemas so plain that values can be judged without the JSON Schema library, which takes long to load."""

from __future__ import annotations

from stagec.core.json import Json

_TYPES = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": int,
    "object": dict,
    "array": list,
    "null": type(None),
}
_TEXTS = frozenset({"title", "description", "const"})
_LARGE = 2**53
_LEVELS = 30
"""Levels of schemas that are looked at."""


def is_plain(schema: Json, levels: int = _LEVELS) -> bool:
    """Tell whether a schema is a correct one and has only keywords that are judged here."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or not levels:
        return False
    return all(_is_plain_keyword(name, each, levels - 1) for name, each in schema.items())


def _is_plain_keyword(name: str, given: Json, levels: int) -> bool:
    match name:
        case "type":
            return isinstance(given, str) and given in _TYPES
        case "enum" | "required":
            if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
                return False
            return 0 < len(given) == len({*map(str, given)})
        case "properties":
            return isinstance(given, dict) and all(is_plain(each, levels) for each in given.values())
        case "items" | "additionalProperties":
            return is_plain(given, levels)
        case "minLength" | "minItems":
            return type(given) is int and given >= 0
        case _:
            return name in _TEXTS and isinstance(given, str)


def is_simple(given: Json) -> bool:
    """Tell whether a value has no fractions, large numbers and foreign letters, which others may take differently."""
    if isinstance(given, dict):
        return (
            type(given) is dict
            and all(isinstance(name, str) and name.isascii() for name in given)
            and all(map(is_simple, given.values()))
        )
    if isinstance(given, list):
        return type(given) is list and all(map(is_simple, given))
    if isinstance(given, str):
        return type(given) is str and given.isascii()
    return given is None or type(given) is bool or (type(given) is int and abs(given) < _LARGE)


def satisfies(given: Json, schema: Json) -> bool:
    """Tell whether a simple value satisfies a plain schema for certain."""
    if not isinstance(schema, dict):
        return schema is True
    return all(_satisfies_keyword(given, name, each, schema) for name, each in schema.items())


def _satisfies_keyword(given: Json, name: str, said: Json, schema: dict[str, Json]) -> bool:
    match name:
        case "type":
            return type(given) is _TYPES[str(said)]
        case "enum":
            return isinstance(said, list) and isinstance(given, str) and given in said
        case "const":
            return given == said and isinstance(given, str)
        case "required":
            return not isinstance(given, dict) or (isinstance(said, list) and all(each in given for each in said))
        case "properties" | "items" | "additionalProperties":
            return all(satisfies(each, inner) for each, inner in _pair(given, name, said, schema))
        case "minLength" | "minItems":
            kind = str if name == "minLength" else list
            return not isinstance(given, kind) or len(given) >= int(str(said))
        case _:
            return True


def _pair(given: Json, name: str, said: Json, schema: dict[str, Json]) -> list[tuple[Json, Json]]:
    """Return the parts of a value that a keyword is about, each with its schema."""
    if name == "items":
        return [(each, said) for each in given] if isinstance(given, list) else []
    if not isinstance(given, dict):
        return []
    known = schema.get("properties")
    declared = known if isinstance(known, dict) else {}
    if name == "properties":
        return [(given[each], inner) for each, inner in declared.items() if each in given]
    return [(inner, said) for each, inner in given.items() if each not in declared]
