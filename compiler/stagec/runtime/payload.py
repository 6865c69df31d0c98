"""Whether answers and results satisfy their schemas; the only door to the JSON Schema library at run time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json


class Payloads:
    """The schemas of one plan, each prepared when it is first needed."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        self._contents = contents
        self._known: dict[str, Any] = {}

    def complaint(self, content: str | None, given: Json) -> str | None:
        """Return what is wrong with a value, nothing when it satisfies the schema or there is none."""
        if content is None:
            return None
        found = self._validator(content)
        if found.is_valid(given):
            return None
        return "; ".join(str(error.message) for error in list(found.iter_errors(given))[:_MOST])

    def matches(self, pattern: str, text: str) -> bool:
        """Tell whether a regular expression is found in a text, at a cost that has a bound; a bad one never is."""
        import jsonschema_rs

        try:
            found: bool = jsonschema_rs.validator_for({"pattern": pattern}).is_valid(text)
        except (ValueError, jsonschema_rs.ValidationError):
            return False
        return found

    def _validator(self, content: str) -> Any:
        if content not in self._known:
            import jsonschema_rs

            schema = json.loads(self._contents[content])
            self._known[content] = jsonschema_rs.validator_for(schema, retriever=_refuse)
        return self._known[content]


_MOST = 5
"""Complaints that a model is told of at once."""


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} lies outside the plan")
