"""Whole numbers in documents that a plan cannot hold: beyond a point, programs take one for the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from stagec.core.json import Json
from stagec.core.place import Key, Place, Pointer
from stagec.core.value import replace
from stagec.sources.shape.document import load_published
from stagec.sources.tree import Fault, Tree

_MOST = 2**53 - 1
_UNIFORM = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)
_CANDIDATE = b"0" * 14
"""What a text must contain in which such a number is written, once all its digits are zeros."""
_LARGE = re.compile(rb"[0-9]{16}|0x[0-9a-fA-F]{14}")


def judge_numbers(tree: Tree, schema: str, unheld: Iterable[Pointer] = ()) -> Tree:
    """Return the tree of a document with the whole numbers in it that a plan could not hold exactly.

    `schema` is the name of its published schema. What that calls a remark is left out, what has a fault already, and
    what lies at or inside the pointers of `unheld`: no plan holds it as a number.
    """
    if not tree.readable or not _has_large(tree.data):
        return tree
    silent = {*unheld, *(fault.at.pointer for fault in tree.faults if fault.at.pointer)}
    found = tuple(
        Fault("inexact-number", Place(tree.file, pointer), facts={"number": number, "limit": _MOST})
        for pointer, number in _numbers(tree.value, load_published(schema).schema, silent)
        if not -_MOST <= number <= _MOST
    )
    return replace(tree, faults=(*tree.faults, *found)) if found else tree


def _has_large(data: bytes) -> bool:
    return _CANDIDATE in data.translate(_UNIFORM) and _LARGE.search(data) is not None


def _numbers(document: Json, schema: Any, silent: set[Pointer]) -> Iterator[tuple[Pointer, int]]:
    todo: list[tuple[Pointer, Json, Any]] = [((), document, schema)]
    while todo:
        pointer, given, described = todo.pop()
        if pointer in silent:
            continue
        if isinstance(given, int):
            yield pointer, given
        described = schema["$defs"][described["$ref"].rpartition("/")[2]] if "$ref" in described else described
        todo.extend(((*pointer, key), inner, inside) for key, inner, inside in _members(given, described))


def _members(given: Json, described: Any) -> Iterator[tuple[Key, Json, Any]]:
    """Yield the members of a value with what a published schema says of each; none that is a remark."""
    if isinstance(given, dict):
        known, others = described.get("properties", {}), described.get("additionalProperties")
        remarks = [*described.get("patternProperties", ()), *(["^comment$"] if "comment" in known else ())]
        for name, inner in given.items():
            if not any(re.search(pattern, name) for pattern in remarks):
                yield name, inner, known.get(name, others if isinstance(others, dict) else {})
    elif isinstance(given, list):
        inside = described.get("items", {})
        yield from ((index, inner, inside) for index, inner in enumerate(given))
