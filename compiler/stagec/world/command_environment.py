"""What programs of a plan see of the environment: what they need to be found and to speak a language, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BASE = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that every program gets, besides those whose names begin with `LC_`."""


def select_variables(variables: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a program gets: the basic ones, and those that somebody names."""
    wanted = {*BASE, *named}
    return {name: each for name, each in variables.items() if name in wanted or name.startswith("LC_")}
