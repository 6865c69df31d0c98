"""A document against the schema that stagec publishes for its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from stagec.core.json import Json, Object
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.sources.shape.faults import faults_of, missing
from stagec.sources.shape.generations import other_generation
from stagec.sources.shape.published import Published, published
from stagec.sources.tree import Fault, Tree

_MOST = 10_000
"""Faults of one file's shape that are kept; nobody reads more, and a hostile file could have a million."""


def judge(tree: Tree, schema: str) -> Tree:
    """Return the tree with what is wrong with its shape; `schema` is the name of a published schema.

    A tree of another generation of its format gets one fault and is no longer readable, nor is one whose root is not
    of the type the schema wants. A clean document costs one call of the compiled schema.
    """
    if tree.value is None and not tree.readable:
        return tree
    other = other_generation(tree, schema)
    if other is not None:
        return replace(tree, faults=(*tree.faults, other), readable=False)
    found = tuple(islice(_untold(tree, _faults(tree, published(schema))), _MOST))
    if not found:
        return tree
    broken = any(fault.at == tree.at and fault.reason == "type" for fault in found)
    return replace(tree, faults=(*tree.faults, *found), readable=tree.readable and not broken)


def _untold(tree: Tree, found: Iterable[Fault]) -> Iterator[Fault]:
    """Leave out what is wrong with a number that could not even be read: a stand-in was judged in its place."""
    unread = {fault.at.pointer for fault in tree.about("number-out-of-range")}
    return (fault for fault in found if not unread or fault.at.pointer not in unread)


def _faults(tree: Tree, wish: Published) -> Iterator[Fault]:
    yield from _wanted(tree, wish)
    try:
        if wish.validator.is_valid(tree.value):
            return
        errors = tuple(islice(wish.validator.iter_errors(tree.value), _MOST))
    except UnicodeEncodeError:  # a lone surrogate; it has a fault of its own, and nothing can be said about the rest
        return
    yield from faults_of(errors, wish.schema, tree.value, tree.at)


def _wanted(tree: Tree, wish: Published) -> Iterator[Fault]:
    """State what is absent though wished for; the compiled schema does not know of it, so that absence stays cheap."""
    for path, topic in wish.wanted:
        *way, name = path
        for pointer, owner in _reached(tree.value, way):
            if name not in owner:
                yield missing(topic, Place(tree.file, pointer), (name,))


def _reached(start: Json, way: Iterable[str]) -> list[tuple[Pointer, Object]]:
    """Return the objects that a path leads to, `*` standing for every member."""
    found: list[tuple[Pointer, Json]] = [((), start)]
    for key in way:
        found = [each for pointer, owner in found for each in _members(pointer, owner, key)]
    return [(pointer, owner) for pointer, owner in found if isinstance(owner, dict)]


def _members(pointer: Pointer, owner: Json, key: str) -> Iterator[tuple[Pointer, Json]]:
    if not isinstance(owner, dict):
        return
    for name in owner if key == "*" else (key,):
        if name in owner:
            yield (*pointer, name), owner[name]
