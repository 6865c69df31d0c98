"""What it can cost to judge by the schemas of a plan and to compile its patterns: found before anything is compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stagec.core.budgets import Budgets
from stagec.core.expansion import PatternTally, extent, patterns_in
from stagec.core.expansion.weight import explain_size, overweight, weigh
from stagec.core.json import Json, Object
from stagec.core.place import Pointer
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
        return {}, "is used as a schema, and is not readable JSON"
    if isinstance(given, bool):
        return ({} if given else {"not": {}}), ""
    if not isinstance(given, dict):
        return {}, "is used as a schema, and is not an object"
    if text.count("{") + text.count("[") > _DEEPEST and extent(given, len(text)).depth > _DEEPEST:
        return {}, f"is used as a schema, and is nested more than {_DEEPEST} levels deep"
    return given, ""
