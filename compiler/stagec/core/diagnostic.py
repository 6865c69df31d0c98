"""Diagnostics: the report of a mistake in a project, and the edits that fix it."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.json import Json
from stagec.core.place import Place, Span
from stagec.core.value import value


class Severity(StrEnum):
    """The severity of a diagnostic."""

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
    """One complete report: its rule, place, severity, message and fixes.

    `folded` counts the findings that only repeat this one's cause and were therefore left out. `url` is the page of the
    rule on the site of the documentation, if that is published.
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
    url: str | None = None

    @property
    def help(self) -> str:
        """The command that prints the page of the rule."""
        return f"stagec explain {self.code}"

    def pages(self) -> tuple[str, ...]:
        """Return the addresses of the page of the rule: the command that prints it, and its URL if it is published."""
        return (self.help,) if self.url is None else (self.help, self.url)


class Change(StrEnum):
    """The action of an edit at its place."""

    REPLACE = "replace"
    """Put another value where one stands."""
    RENAME = "rename"
    """Give a member another name."""
    REMOVE = "remove"
    """Take a member or an element away."""
    WRITE = "write"
    """Put a text in place of a stretch of the file, as it is; the file is prose, or the stretch lies in its prose."""
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
    """Edits that together fix a finding.

    A fix that `is_safe` cannot change what the author meant. Any other one is a guess, most likely right: it is made
    only when somebody asks for guesses.
    """

    message: str
    edits: tuple[Edit, ...]
    is_safe: bool = True
