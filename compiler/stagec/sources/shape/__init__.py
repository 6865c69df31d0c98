"""Whether documents have the shape they should: ours by published schemas, users' schemas by their dialect."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from stagec.core.budgets import AnswerBudgets, Budgets
from stagec.core.expansion import PatternTally, explain_size, overweight, patterns_in, steps, weigh
from stagec.core.json import Json, Object
from stagec.core.json_reader import write_pointer
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

__all__ = ["judge", "judge_by", "judge_member", "judge_numbers", "judge_patterns", "judge_schema", "prepare_judge"]


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


def prepare_judge(schema: Object) -> Callable[[Json], str | None] | None:
    """Return a function that tells why a schema refuses a value, as runs judge it; None for an unusable schema.

    The schema is whole in itself. What is said is `/items/2: it is not of type "integer"`.
    """
    expansion = weigh(schema)
    if overweight(expansion, schema) or explain_size(patterns_in(schema), PatternTally(Budgets())):
        return None
    try:
        validator = compile_schema(schema, dialect_of(schema), as_runs=True)
    except ValueError:
        return None
    root, most = expansion.position(schema), AnswerBudgets().steps

    def judge(given: Json) -> str | None:
        if steps(expansion, root, given, most) > most:
            return f"judging it takes more than {most:,} steps"
        if validator.is_valid(given):
            return None
        error = next(iter(find_first(validator, given)), None)
        if error is None:
            return "it cannot be judged"
        message, place = str(error.message), write_pointer(tuple(error.instance_path))
        told = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
        return f"{place}: {told}" if place else told

    return judge


_LONGEST = 200
"""Characters of a complaint that are shown: a schema may list many values."""
