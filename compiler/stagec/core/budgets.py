"""Limits for a project and an answer on the use of the machine, and for the files of a run."""

from __future__ import annotations

from stagec.core.value import value


@value
class SearchScope:
    """Patterns in the syntax of `.gitignore`, relative to the project root.

    `roots` are the folders searched when a user names none; `include` narrows and `exclude` removes what is found.
    """

    roots: tuple[str, ...] = (".",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True


@value
class Budgets:
    """The limits of a project on the use of the machine; anything larger is refused, not tried."""

    file_size: int = 1_000_000
    """Bytes of one file."""
    depth: int = 64
    """Objects and arrays inside each other."""
    nodes: int = 600_000
    """Values and ends of collections that a YAML parser reports of one document."""
    plan_size: int = 32_000_000
    """Bytes of a plan."""
    pattern_length: int = 1_000
    """Characters of a regular expression in a user's schema."""
    pattern_size: int = 100_000
    """The estimated time to compile one regular expression, in microseconds."""
    patterns: int = 1_000_000
    """The same for all regular expressions of a project, or of a plan, together."""
    expansion: int = 100_000
    """Schemas that one place of a value can be judged by when the references of a schema are followed."""


@value
class AnswerBudgets:
    """The limits of judging one answer by its schema."""

    values: int = 200_000
    depth: int = 128
    """Objects and arrays inside each other."""
    characters: int = 4_000_000
    """Characters of all texts and names."""
    steps: int = 20_000_000
    """Schemas by which its values are judged, all together."""
