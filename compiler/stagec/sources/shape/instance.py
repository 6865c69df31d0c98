"""A part of a document against a schema that a user wrote for it."""

from __future__ import annotations

from itertools import islice

from stagec.core.json import Json, Object
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.sources.shape.faults import faults_of, found_at
from stagec.sources.shape.published import compiled, published
from stagec.sources.shape.schema import dialect_of
from stagec.sources.tree import Tree

_MOST = 1_000
"""Faults told of one value; nobody reads more."""


def judge_by(tree: Tree, pointer: Pointer, schema: Object | str, topic: str) -> Tree:
    """Return the tree with what a schema, which is itself in order, finds wrong with the value at a pointer into it.

    `schema` is a user's schema, or the name of a published one. All faults have the one topic. A schema that refers to
    other files says nothing: they are not opened.
    """
    if not tree.readable:
        return tree
    given: Json = found_at(tree.value, pointer)
    root = Place(tree.file, pointer)
    schema = published(schema).schema if isinstance(schema, str) else schema
    try:
        validator = compiled(schema, dialect_of(schema))
        errors = () if validator.is_valid(given) else tuple(islice(validator.iter_errors(given), _MOST))
    except ValueError:  # a reference out of the schema, or a lone surrogate, which has a fault of its own
        return tree
    found = tuple(replace(each, topic=topic) for each in faults_of(errors, schema, given, root))
    return replace(tree, faults=(*tree.faults, *found)) if found else tree
