"""Read the gates of a registry, equal ones once: large registries repeat a few gates thousands of times."""

from __future__ import annotations

from marshal import dumps

from stagec.core.json import Json, Object, list_of, text_in
from stagec.frontends.registry.document import Gate

_PLAIN = 2
"""A version of marshal's format in which equal bytes can only be equal values."""


class Gates:
    """The gates read so far, by their content."""

    def __init__(self) -> None:
        self._known: dict[bytes, Gate] = {}

    def read(self, given: Json) -> Gate | None:
        """Return the gate that a `structuredGate` describes; nothing when it is no object."""
        if not isinstance(given, dict):
            return None
        content = dumps(given, _PLAIN)
        if content not in self._known:
            self._known[content] = _gate(given)
        return self._known[content]


def _gate(given: Object) -> Gate:
    listed, handoff = given.get("allowedIntents"), given.get("handoffFields")
    return Gate(
        allowed={each: at for at, each in enumerate(list_of(listed)) if isinstance(each, str)},
        is_whole=isinstance(listed, list) and all(isinstance(each, str) for each in listed),
        fallback=text_in(given, "fallbackIntent"),
        field=text_in(given, "intentField"),
        pointer=text_in(given, "intentSchemaRef"),
        target_field=text_in(given, "targetField"),
        target_mode=text_in(given, "targetMode"),
        handoff=tuple(each if isinstance(each, str) else "" for each in handoff) if isinstance(handoff, list) else None,
        fail_fast=given.get("failFast") is not False,
    )
