"""Whether documents have the shape they should: ours by published schemas, users' schemas by their dialect."""

from __future__ import annotations

from itertools import islice

from stagec.core.budgets import AnswerBudgets, Budgets
from stagec.core.expansion import PatternTally, explain_size, overweight, patterns_in, steps, weigh
from stagec.core.json import Json, Object
from stagec.core.place import Place, Pointer
from stagec.core.value import replace
from stagec.sources.shape.faults import faults_of, value_at
from stagec.sources.shape.schema import (
    compile_schema,
    dialect_of,
    find_first,
    judge,
    judge_member,
    judge_numbers,
    judge_patterns,
    judge_schema,
    load_published,
)
from stagec.sources.tree import Fault, Tree

__all__ = ["judge", "judge_by", "judge_member", "judge_numbers", "judge_patterns", "judge_schema"]


_MOST = 1_000
"""Faults told of one value; nobody reads more."""
_EVERY = 20_000
"""Steps up to which all of them are looked for: the library makes every one before it shows the first."""


def judge_by(tree: Tree, pointer: Pointer, schema: Object | str, topic: str) -> Tree:
    """Return the tree with what a schema, which is itself in order, finds wrong with the value at a pointer into it.

    `schema` is a user's schema, or the name of a published one. All faults have the one topic. A schema that refers to
    other files says nothing: they are not opened. Nor does one that costs too much, which is its own fault.
    """
    if not tree.readable:
        return tree
    given: Json = value_at(tree.value, pointer)
    root = Place(tree.file, pointer)
    schema = load_published(schema).schema if isinstance(schema, str) else schema
    expansion = weigh(schema)
    if overweight(expansion, schema) or explain_size(patterns_in(schema), PatternTally(Budgets())):
        return tree
    most = AnswerBudgets().steps
    cost = steps(expansion, expansion.position(schema), given, most)
    found = [Fault("costly-schema", root, "steps", {"limit": most})] if cost > most else []
    if not found:
        try:
            validator = compile_schema(schema, dialect_of(schema))
            if validator.is_valid(given):
                return tree
            errors = (
                tuple(islice(validator.iter_errors(given), _MOST)) if cost <= _EVERY else find_first(validator, given)
            )
        except ValueError:  # a reference out of the schema, or a lone surrogate, which has a fault of its own
            errors = ()
        found = [replace(each, topic=topic) for each in faults_of(errors, schema, given, root)]
    return replace(tree, faults=(*tree.faults, *found)) if found else tree
