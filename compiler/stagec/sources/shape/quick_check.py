"""Validate small, plain questions without a library: whether a value satisfies a schema.

To load the library takes longer than to check most projects. Only questions with the same answer from every validator
are answered here. Unknown keywords, texts that engines of regular expressions read differently, numbers with two
notations and large questions go to the library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from stagec.core.json import Json

_MOST = 8_000
"""Judgements in one process; whoever needs more has a project for which loading the library pays off."""


_EXACT = 2**53
"""Numbers beyond these are not the same for every library."""


class UnsureError(Exception):
    """A question that is left to the library."""


class QuickCheck:
    """Judges values until the library is loaded, or until so many values come that loading it pays."""

    def __init__(self, most: int = _MOST) -> None:
        self._left = most

    def satisfies(self, given: Json, schema: Any) -> bool | None:
        """Tell whether a value satisfies a schema; None where the library has to be asked."""
        if "jsonschema_rs" in sys.modules:
            return None
        try:
            return self._judge(given, schema, schema)
        except (UnsureError, RecursionError):
            return None

    def _judge(self, given: Json, schema: Any, root: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        self._left -= 1
        if self._left < 0 or (isinstance(given, int | float) and not -_EXACT <= given <= _EXACT):
            raise UnsureError
        return all(self._judge_keyword(given, keyword, schema, root) for keyword in schema)

    def _judge_keyword(self, given: Json, keyword: str, schema: Any, root: Any) -> bool:
        operand = schema[keyword]
        if keyword in _SILENT or keyword.startswith("x-"):
            return True
        if keyword in _PLAIN:
            return _PLAIN[keyword](given, operand)
        if keyword in _NESTED:
            return _NESTED[keyword](lambda value, inner: self._judge(value, inner, root), given, operand, schema)
        if keyword == "$ref":
            return self._judge(given, _find(root, operand), root)
        raise UnsureError


QUICK_CHECK = QuickCheck()
"""The check of this process."""


def _find(root: Any, reference: str) -> Any:
    if reference == "#":
        return root
    if not reference.startswith("#/$defs/"):
        raise UnsureError
    return root["$defs"][reference.removeprefix("#/$defs/")]


_SILENT = {
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "then",
    "else",
}
_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "array": lambda given: isinstance(given, list),
    "boolean": lambda given: isinstance(given, bool),
    "integer": lambda given: isinstance(given, int) and not isinstance(given, bool),
    "null": lambda given: given is None,
    "number": lambda given: isinstance(given, int | float) and not isinstance(given, bool),
    "object": lambda given: isinstance(given, dict),
    "string": lambda given: isinstance(given, str),
}


def _has_type(given: Json, operand: str | list[str]) -> bool:
    names = [operand] if isinstance(operand, str) else operand
    if isinstance(given, float) and "integer" in names:  # 1.0 is a whole number
        raise UnsureError
    return any(_TYPES[name](given) for name in names)


def _is_one(given: Json, operand: list[Json]) -> bool:
    if isinstance(given, float | list | dict):
        raise UnsureError
    return any(type(each) is type(given) and each == given for each in operand)


def _matches(pattern: str, given: str) -> bool:
    """Tell whether a text has a match; engines differ in line ends, and in what letters and spaces there are."""
    if not (given.isascii() and given.isprintable()):
        raise UnsureError
    return _compile(pattern).search(given) is not None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_unique(given: Json, operand: object) -> bool:
    if not isinstance(given, list) or operand is not True:
        return True
    if not all(isinstance(each, str) for each in given):
        raise UnsureError
    return len({*given}) == len(given)


def _on(kind: type | tuple[type, ...], judge: Callable[[Any, Any], bool]) -> Callable[[Json, Any], bool]:
    """Return a judgement that is about values of one type only."""
    return lambda given, operand: not isinstance(given, kind) or isinstance(given, bool) or judge(given, operand)


def _is_multiple(given: float, operand: float) -> bool:
    if isinstance(given, float) or isinstance(operand, float):
        raise UnsureError
    return given % operand == 0


_ITSELF = {"$ref": "#"}
_TABLE = {"type": "object", "additionalProperties": _ITSELF}
_LIST = {"type": "array", "minItems": 1, "items": _ITSELF}
_NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_COUNT = {"type": "integer", "minimum": 0}
_TEXT, _NUMERIC, _SWITCH = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
_ANCHOR = {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}
_TYPE = {"enum": sorted(_TYPES)}


def _alike(names: str, schema: object) -> dict[str, object]:
    return dict.fromkeys(names.split(), schema)


_IN_ALL = {
    **_alike("$schema $ref $comment title description format pattern contentEncoding contentMediaType", _TEXT),
    **_alike("readOnly uniqueItems", _SWITCH),
    **_alike("maximum exclusiveMaximum minimum exclusiveMinimum", _NUMERIC),
    **_alike("maxLength minLength maxItems minItems maxProperties minProperties", _COUNT),
    **_alike("contains additionalProperties propertyNames if then else not", _ITSELF),
    **_alike("properties patternProperties definitions", _TABLE),
    **_alike("allOf anyOf oneOf", _LIST),
    **_alike("enum examples", {"type": "array"}),
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "required": _NAMES,
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [_ITSELF, _NAMES]}},
    "type": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1, "uniqueItems": True}]},
}
_IN_SEVEN = {
    **_alike("$id", _TEXT),
    **_alike("additionalItems", _ITSELF),
    **_alike("items", {"anyOf": [_ITSELF, _LIST]}),
    **_alike("writeOnly", {"since": "a later edition"}),
}
_IN_2020 = {
    **_alike("$dynamicRef $recursiveRef", _TEXT),
    **_alike("$anchor $dynamicAnchor $recursiveAnchor", _ANCHOR),
    **_alike("deprecated writeOnly", _SWITCH),
    **_alike("maxContains minContains", _COUNT),
    **_alike("items unevaluatedItems unevaluatedProperties contentSchema", _ITSELF),
    **_alike("dependentSchemas $defs", _TABLE),
    **_alike("prefixItems", _LIST),
    "$id": {"type": "string", "pattern": "^[^#]*#?$"},
    "$vocabulary": {"type": "object", "additionalProperties": _SWITCH},
    "dependentRequired": {"type": "object", "additionalProperties": _NAMES},
}
METASCHEMAS = {
    "Draft7Validator": {"type": ["object", "boolean"], "properties": {**_IN_ALL, **_IN_SEVEN}},
    "Draft202012Validator": {"type": ["object", "boolean"], "properties": {**_IN_ALL, **_IN_2020}},
}
"""The schemas of schemas in one piece, by the library's class for their draft; of other drafts there is none."""

_NUMBER = (int, float)
_PLAIN: Mapping[str, Callable[[Json, Any], bool]] = {
    "type": _has_type,
    "enum": _is_one,
    "const": lambda given, operand: _is_one(given, [operand]),
    "minLength": _on(str, lambda given, operand: len(given) >= operand),
    "maxLength": _on(str, lambda given, operand: len(given) <= operand),
    "pattern": _on(str, lambda given, operand: _matches(operand, given)),
    "minimum": _on(_NUMBER, lambda given, operand: given >= operand),
    "maximum": _on(_NUMBER, lambda given, operand: given <= operand),
    "exclusiveMinimum": _on(_NUMBER, lambda given, operand: given > operand),
    "exclusiveMaximum": _on(_NUMBER, lambda given, operand: given < operand),
    "multipleOf": _on(_NUMBER, _is_multiple),
    "minItems": _on(list, lambda given, operand: len(given) >= operand),
    "maxItems": _on(list, lambda given, operand: len(given) <= operand),
    "uniqueItems": _is_unique,
    "minProperties": _on(dict, lambda given, operand: len(given) >= operand),
    "maxProperties": _on(dict, lambda given, operand: len(given) <= operand),
    "required": _on(dict, lambda given, operand: all(name in given for name in operand)),
}
"""The checks of keywords without schemas in them."""

Judge = Callable[[Json, Any], bool]


def _have_properties(judge: Judge, given: Json, operand: Any, _schema: Any) -> bool:
    if not isinstance(given, dict):
        return True
    return all(judge(given[name], each) for name, each in operand.items() if name in given)


def _have_patterns(judge: Judge, given: Json, operand: Any, _schema: Any) -> bool:
    if not isinstance(given, dict):
        return True
    pairs = (
        (inner, each) for pattern, each in operand.items() for name, inner in given.items() if _matches(pattern, name)
    )
    return all(judge(inner, each) for inner, each in pairs)


def _have_others(judge: Judge, given: Json, operand: Any, schema: Any) -> bool:
    if not isinstance(given, dict) or operand is True:
        return True
    known, patterns = schema.get("properties", ()), schema.get("patternProperties", ())
    others = (name for name in given if name not in known and not any(_matches(each, name) for each in patterns))
    return all(judge(given[name], operand) for name in others)


def _have_names(judge: Judge, given: Json, operand: Any, _schema: Any) -> bool:
    return not isinstance(given, dict) or all(judge(name, operand) for name in given)


def _have_items(judge: Judge, given: Json, operand: Any, schema: Any) -> bool:
    if "prefixItems" in schema:
        raise UnsureError
    return not isinstance(given, list) or all(judge(each, operand) for each in given)


def _follow(judge: Judge, given: Json, operand: Any, schema: Any) -> bool:
    return judge(given, schema.get("then" if judge(given, operand) else "else", True))


_NESTED: Mapping[str, Callable[[Judge, Json, Any, Any], bool]] = {
    "properties": _have_properties,
    "patternProperties": _have_patterns,
    "additionalProperties": _have_others,
    "propertyNames": _have_names,
    "items": _have_items,
    "allOf": lambda judge, given, operand, _: all(judge(given, each) for each in operand),
    "anyOf": lambda judge, given, operand, _: any(judge(given, each) for each in operand),
    "oneOf": lambda judge, given, operand, _: sum(judge(given, each) for each in operand) == 1,
    "not": lambda judge, given, operand, _: not judge(given, operand),
    "if": _follow,
}
"""The checks of keywords with schemas in them."""
