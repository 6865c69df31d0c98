"""Servers to ask, and what they leave behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import is_alive

from stagec.core.place import Place
from stagec.ir.catalogue import CatalogueServer

SCRIPT = str(Path(__file__).with_name("server.py"))
MakeServer = Callable[..., CatalogueServer]


@pytest.fixture
def server() -> MakeServer:
    """Make the definition of a server that behaves as its name says."""

    def make(kind: str, **more: object) -> CatalogueServer:
        at = Place("tools.yaml", ("mcp", kind))
        given = {"command": sys.executable, "args": (SCRIPT, kind), **more}
        return CatalogueServer(kind, at, **given)  # type: ignore[arg-type]

    return make


_DYING = 5.0
"""Seconds that the system may take to end a process that was killed."""


@pytest.fixture
def leftovers(tmp_path: Path) -> Iterator[Callable[[], list[int]]]:
    """Tell which of the processes that wrote their id to `pids` are still there."""

    def there() -> list[int]:
        pids = tmp_path / "pids"
        return [int(each) for each in pids.read_text().split() if is_alive(int(each))] if pids.exists() else []

    def running() -> list[int]:
        until = time.monotonic() + _DYING
        while there() and time.monotonic() < until:
            time.sleep(0.01)
        return there()

    yield running
    for each in running():
        os.kill(each, 9)
