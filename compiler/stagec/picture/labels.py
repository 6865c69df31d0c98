"""What stands at a line: the outcome under which a move is made, and the conditions on it."""

from __future__ import annotations

import json

from stagec.core.json import Json
from stagec.model.flow import Edge, Term


def label(edge: Edge) -> str:
    """Return `ok`, or `ok: parsed.approved = true and parsed.severity in high, critical`."""
    conditions = " and ".join(map(condition, edge.when))
    return f"{edge.outcome}: {conditions}" if conditions else edge.outcome


def condition(term: Term) -> str:
    """Return a condition in words: `x = 1`, `x in a, b`, `x present`, `x absent`."""
    path = ".".join(term.path)
    if term.values:
        values = ", ".join(map(_written, term.values))
        return f"{path} = {values}" if len(term.values) == 1 else f"{path} in {values}"
    return f"{path} absent" if term.present is False else f"{path} present"


def _written(value: Json) -> str:
    """Return a value as people write it: a text that could be nothing else without quotes."""
    bare = isinstance(value, str) and value not in {"", "true", "false", "null"} and not value[:1].isdigit()
    return str(value) if bare and "," not in str(value) else json.dumps(value, ensure_ascii=False)
