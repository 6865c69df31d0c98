"""Which files of a project a run looks at."""

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
