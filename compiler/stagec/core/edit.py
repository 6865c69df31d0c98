"""Changes to documents, named by place; the format a document is written in knows how to make them."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.json import Json
from stagec.core.place import Place
from stagec.core.value import value


class Change(StrEnum):
    """What an edit does at its place."""

    REPLACE = "replace"
    """Put another value where one stands."""
    RENAME = "rename"
    """Give a member another name."""
    REMOVE = "remove"
    """Take a member or an element away."""
    INSERT = "insert"
    """Add a member at the end of an object, or an element at an index of an array."""


@value
class Edit:
    """One change at one place; `value` is the new value, or the new name of a member that is renamed."""

    change: Change
    at: Place
    value: Json = None


@value
class Fix:
    """Edits that together fix a finding without changing what its author can have meant."""

    message: str
    edits: tuple[Edit, ...]
