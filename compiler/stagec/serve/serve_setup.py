"""Where the page is served, and what it may do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stagec.core.value import value
from stagec.plan import Plan

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@value
class ServeSetup:
    """Where the page is served, what it shows, and what it may start.

    `origins` are further origins of the page, such as that of a proxy. `options` are handed to runs that it starts, and
    `name_run` names them.
    """

    runs: Path
    plans: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8642
    token: str = ""
    origins: tuple[str, ...] = ()
    can_start: bool = False
    options: tuple[str, ...] = ()
    name_run: NameRun | None = None


NameRun = Callable[[str | None, Plan], Path]
"""Returns the file of a run that is to begin, by the name that somebody wants for it; raises `Failure` for no name."""
