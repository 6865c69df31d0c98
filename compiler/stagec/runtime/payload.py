"""Whether answers and results satisfy their schemas; the only door to the JSON Schema library at run time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.plan.document import Plan
from stagec.plan.schemas import schemas


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
        if found is None:
            return "its schema cannot be used"
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
            try:
                self._known[content] = _prepared(self._contents[content])
            except ValueError:
                self._known[content] = None
        return self._known[content]


_MOST = 5
"""Complaints that a model is told of at once."""


def unusable(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield every content of a plan that is used as a schema and cannot be, with the reason; stagec makes none."""
    for content in dict.fromkeys(schemas(plan)):
        try:
            _prepared(plan.contents[content])
        except ValueError as error:
            yield content, str(error)


def _prepared(text: str) -> Any:
    """Return what judges values by a schema; raise `ValueError` for one that is none, or leads out of itself."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(json.loads(text), retriever=_refuse)
    except (RecursionError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(str(error)) from error


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} lies outside the plan")
