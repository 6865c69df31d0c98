"""The nodes of a YAML text, with their places."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from enum import StrEnum

from stagec.core.place import Pointer
from stagec.core.value import value


class Kind(StrEnum):
    """The kind of a node."""

    SCALAR = "scalar"
    SEQUENCE = "sequence"
    MAPPING = "mapping"
    ALIAS = "alias"


@value
class YamlNode:
    """One node and its range in characters of the text, end exclusive, trailing blanks left out.

    `items` are the elements of a sequence, the keys and values of a mapping by turns, or the one target of an alias.
    `style` is the opening character of a scalar (empty for a plain one) or of a flow collection. `size` counts the
    values inside, aliases as often as they are used.
    """

    kind: Kind
    start: int
    end: int
    text: str = ""
    style: str = ""
    items: tuple[YamlNode, ...] = ()
    anchor: str = ""
    tag: str = ""
    size: int = 1

    @property
    def pairs(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        """The keys and values of a mapping."""
        return zip(self.items[::2], self.items[1::2], strict=True)

    @property
    def meant(self) -> YamlNode:
        """The node an alias stands for; any other node itself."""
        return self.items[0] if self.kind is Kind.ALIAS else self


@value
class Member:
    """A member of a collection: its own node and, in a mapping, the node of its key."""

    node: YamlNode
    key: YamlNode | None = None


class Finder:
    """Finds the members along pointers into one document; each mapping is searched by name once, whatever is asked."""

    def __init__(self, root: YamlNode) -> None:
        self._root = root
        self._names: dict[int, dict[str, Member]] = {}

    def find(self, pointer: Pointer) -> tuple[Member, ...]:
        """Return the members along a pointer, the root first, as far as they are written."""
        path = [Member(self._root)]
        for key in pointer:
            found = self._member(path[-1].node.meant, key)
            if found is None:
                break
            path.append(found)
        return tuple(path)

    def _member(self, node: YamlNode, key: str | int) -> Member | None:
        if node.kind is Kind.SEQUENCE and isinstance(key, int) and 0 <= key < len(node.items):
            return Member(node.items[key])
        if node.kind is Kind.MAPPING and isinstance(key, str):
            return self._name(node).get(key)
        return None

    def _name(self, node: YamlNode) -> dict[str, Member]:
        """Return the members of a mapping by name, of repeated ones the last."""
        if id(node) not in self._names:
            self._names[id(node)] = {name.meant.text: Member(item, name) for name, item in node.pairs}
        return self._names[id(node)]


_PREFIX = "tag:yaml.org,2002:"
_KINDS: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}


class TagError(ValueError):
    """A tag outside the core schema, or one that its value does not fit."""


def apply_tag(node: YamlNode) -> Scalar:
    """Return the meaning of a scalar with a tag."""
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
        """The facts for a message about it."""
        text = str(self)
        if self.reason == "digits":
            known = {} if _BASED.fullmatch(text) else {"digits": len(text.lstrip("+-"))}
            return {**known, "limit": MOST_DIGITS}
        return {"number": text}


def meaning(text: str) -> Scalar:
    """Return the meaning of a plain scalar; infinite, undefined and overlong numbers raise `NumberError`."""
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
