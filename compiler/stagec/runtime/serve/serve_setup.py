"""Where the page is served, and what it may do."""

from __future__ import annotations

from pathlib import Path

from stagec.core.value import value
from stagec.runtime.serve.run_source import RunSource

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@value
class ServeSetup:
    """The address of the page, the runs that it shows, and the plans that it may start.

    `origins` are further origins of the page, such as that of a proxy.
    """

    source: RunSource
    plans: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8642
    token: str = ""
    origins: tuple[str, ...] = ()
    can_start: bool = False
