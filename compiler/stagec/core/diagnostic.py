"""What a user reads when something is wrong with a project, and the edits that fix it."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.json import Json
from stagec.core.place import Place, Span
from stagec.core.value import value


class Severity(StrEnum):
    """How much a diagnostic weighs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def weight(self) -> int:
        """3 for an error, 2 for a warning, 1 for a note."""
        return {"error": 3, "warning": 2, "note": 1}[self.value]


@value
class Remark:
    """A second place that explains the first, as shown."""

    at: Place
    span: Span
    message: str


@value
class Diagnostic:
    """One complete report: which rule, where, how heavy, in what words, and what would fix it.

    `folded` counts the findings that only repeat this one's cause and were therefore left out.
    """

    code: str
    name: str
    severity: Severity
    origin: tuple[str, ...]
    at: Place
    span: Span
    message: str
    related: tuple[Remark, ...]
    folded: int
    fix: Fix | None
    url: str


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
