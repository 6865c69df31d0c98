"""What judges of kinds have in common: bounds that are lower, and schemas that accept less."""

from __future__ import annotations

import json

from stagec.comparison.change import PlanChange
from stagec.comparison.pair import PlanPair
from stagec.core.json import Json

_LONGEST = 200
"""Characters of a value that shows a difference."""


def is_lowered(before: Json, after: Json) -> bool:
    """Tell whether a bound is lower than it was; nothing is no bound."""
    if not isinstance(after, int):
        return False
    return not isinstance(before, int) or after < before


def text_in_change(given: Json) -> str | None:
    """Return the name of a content that a change has as a value."""
    return given if isinstance(given, str) else None


def is_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """Tell whether a schema refuses what it accepted: such a value."""
    found = pair.compare_schemas(text_in_change(change.before), text_in_change(change.after))
    if found.holds is not False:
        return False
    shown = json.dumps(found.witness, ensure_ascii=False)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def is_undecided(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether it is not known if a schema accepts all that it accepted."""
    return pair.compare_schemas(text_in_change(change.before), text_in_change(change.after)).holds is None


def is_digest(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether only the digest of a tool's schema is known, on either side."""
    tools = (each.tools[change.name] for each in (pair.old, pair.new))
    return any(each.schema is None and each.digest is not None for each in tools)
