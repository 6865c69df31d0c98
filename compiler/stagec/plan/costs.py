"""What it can cost to judge by the schemas of a plan and to compile its patterns: found before anything is compiled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stagec.core.budgets import Budgets
from stagec.core.expansion import ENDLESS, Expansion, LocalReferences, PatternTally, extent, patterns_in
from stagec.core.json import Json, Object
from stagec.core.place import Pointer
from stagec.core.words import quote
from stagec.plan.act import Converse, Prompt
from stagec.plan.document import Plan


def list_schemas(plan: Plan) -> Iterator[str]:
    """Yield the contents of a plan that are schemas, some of them more than once."""
    acts = [node.act for node in plan.nodes.values()]
    asked = [act.schema for act in acts if isinstance(act, Prompt | Converse)]
    handed = [act.accepts for act in acts if isinstance(act, Converse)]
    given = [each.schema for each in plan.inputs.values()]
    yield from (each for each in (*asked, *handed, *given) if each is not None)


_DEEPEST = 256
"""Objects and arrays inside each other in one schema; what libraries do with them recurses."""
_LIMITS = Budgets()


def unaffordable(plan: Plan) -> Iterator[tuple[Pointer, str]]:
    """Yield every place of a plan whose schema or pattern cannot be used within the budgets, with the reason.

    A schema that is no JSON, or no object, is among them. Linear in what is written; nothing is compiled.
    """
    tally = PatternTally(_LIMITS)
    for content in dict.fromkeys(list_schemas(plan)):
        text = plan.contents[content]
        schema, reason = schema_in(text)
        if not reason and not _is_plain(text):
            reason = overweight(weigh(schema), schema) or explain_size(patterns_in(schema), tally)
        if reason:
            yield ("contents", content), reason
    for name, validator in plan.validators.items():
        matched = [validator.success.argument] if validator.success.kind == "matches" else []
        if reason := explain_size(matched, tally):
            yield ("validators", name, "success", "argument"), reason


_COSTLY = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"unevaluated', '"pattern', "\\u")
"""What a schema without references, repeated judgements and patterns has none of; an escape may hide the others."""


def _is_plain(text: str) -> bool:
    """Tell whether a schema has no patterns, and can cost no more than what is written in it.

    Then each of its schemas judges a place of a value at most once, and none lists more than two things a character.
    """
    return 2 * len(text) <= _LIMITS.expansion and not any(each in text for each in _COSTLY)


def schema_in(text: str) -> tuple[Object, str]:
    """Return the schema in a text, `true` and `false` as objects, and an empty text; or why it is no schema."""
    try:
        given: Json = json.loads(text)
    except (ValueError, RecursionError):
        return {}, "is used as a schema, and is no JSON that can be read"
    if isinstance(given, bool):
        return ({} if given else {"not": {}}), ""
    if not isinstance(given, dict):
        return {}, "is used as a schema, and is no object"
    if text.count("{") + text.count("[") > _DEEPEST and extent(given, len(text)).depth > _DEEPEST:
        return {}, f"is used as a schema, and is nested more than {_DEEPEST} levels deep"
    return given, ""


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
