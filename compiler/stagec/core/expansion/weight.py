"""Whether judging by a schema, and compiling its patterns, costs too much, and why."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.budgets import Budgets
from stagec.core.expansion.expansion import ENDLESS, Expansion
from stagec.core.expansion.pattern_size import PatternTally
from stagec.core.expansion.references import LocalReferences
from stagec.core.json import Object
from stagec.core.words import quote

_LIMITS = Budgets()


def weigh(schema: Object) -> Expansion:
    """Return what a schema that stands by itself expands to."""
    expansion = Expansion()
    expansion.add((schema,), LocalReferences(schema).resolve)
    return expansion


def overweight(expansion: Expansion, schema: Object) -> str:
    """Return why judging by a schema can cost too much, or an empty text."""
    weight = expansion.weight(schema)
    if weight >= ENDLESS:
        return "is a schema that refers to itself without end, or to more than can be counted"
    if weight > _LIMITS.expansion:
        return f"is a schema that judges one place of a value by {weight:,} schemas, more than {_LIMITS.expansion:,}"
    return ""


def explain_size(patterns: Iterable[str], tally: PatternTally) -> str:
    """Return why patterns are too large to be compiled, or an empty text."""
    for each in patterns:
        excess = tally.excess(each)
        if excess:
            return f"has the pattern {quote(each)}, which {_EXCESS[excess]}"
    return ""


_EXCESS = {
    "size": f"is larger than {_LIMITS.pattern_size:,} units when it is compiled",
    "total": f"brings all patterns to more than {_LIMITS.patterns:,} units when they are compiled",
}
