"""What a scalar means by the core schema of YAML 1.2, with or without a tag."""

from __future__ import annotations

import math
import re
import sys

from stagec.sources.yaml_text.nodes import YamlNode

_PREFIX = "tag:yaml.org,2002:"
_KINDS: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}


class TagError(ValueError):
    """A tag outside the core schema, or one that its value does not fit."""


def apply_tag(node: YamlNode) -> Scalar:
    """Return what a scalar with a tag means."""
    name = node.tag.removeprefix(_PREFIX)
    if node.tag in {"!", _PREFIX + "str"}:
        return node.text
    if not node.tag.startswith(_PREFIX) or name not in _KINDS:
        raise TagError(node.tag)
    given = meaning(node.text)
    if name == "float" and type(given) is int:
        return float(given)
    if type(given) is not _KINDS[name]:
        raise TagError(node.tag)
    return given


_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_FIRST = frozenset("-+.0123456789~nNtTfF")
MOST_DIGITS = 4_300
"""Python refuses to read longer whole numbers."""
_MOST_BITS = 14_284
"""So long may a number written in another base be: Python refuses to write more digits, too."""

Scalar = None | bool | int | float | str


class NumberError(ValueError):
    """A number that no JSON number can hold, and why: too many `digits`, an `overflow`, or `no-number` at all."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.nearest = {"digits": sys.maxsize, "overflow": sys.float_info.max}.get(reason)
        if self.nearest is not None and text.startswith("-"):
            self.nearest = -self.nearest

    @property
    def facts(self) -> dict[str, object]:
        """What a sentence about it needs."""
        text = str(self)
        if self.reason == "digits":
            known = {} if _BASED.fullmatch(text) else {"digits": len(text.lstrip("+-"))}
            return {**known, "limit": MOST_DIGITS}
        return {"number": text}


def meaning(text: str) -> Scalar:
    """Return what a plain scalar means; infinite, undefined and overlong numbers raise `NumberError`."""
    if text in _NULL:
        return None
    if text[0] not in _FIRST:
        return text
    if text in _BOOL:
        return _BOOL[text]
    return _number(text)


def _number(text: str) -> int | float | str:
    if _INT.fullmatch(text):
        if len(text.lstrip("+-")) > MOST_DIGITS:
            raise NumberError(text, "digits")
        return int(text)
    if _BASED.fullmatch(text):
        number = int(text, 0)
        if number.bit_length() > _MOST_BITS:
            raise NumberError(text, "digits")
        return number
    if _ENDLESS.fullmatch(text):
        raise NumberError(text, "no-number" if "n" in text[-1].lower() else "overflow")
    if not _FLOAT.fullmatch(text):
        return text
    real = float(text)
    if math.isinf(real):
        raise NumberError(text, "overflow")
    return real
