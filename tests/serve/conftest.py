"""A server for each test that needs one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest


class Serving(NamedTuple):
    """A server that runs, and the address that it has printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def host(self) -> str:
        return self.address.partition("/login#")[0]

    @property
    def token(self) -> str:
        return self.address.partition("#")[2]


@pytest.fixture
def serving() -> Iterator[Callable[..., Serving]]:
    """Return what starts `stagec serve` on a free port; all are ended with the test."""
    begun: list[subprocess.Popen[str]] = []

    def begin(folder: Path, *options: str) -> Serving:
        where = () if "--database" in options else ("--runs", str(folder))
        words = [sys.executable, "-m", "stagec", "serve", *where, "--port", "0", *options]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
        begun.append(process)
        assert process.stdout is not None
        return Serving(process, process.stdout.readline().strip())

    yield begin
    for process in begun:
        process.terminate()
        process.communicate(timeout=30)
