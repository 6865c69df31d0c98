"""A journal in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playable import steps

from stagec.ir.plan import dump
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.machine import Program, load


@pytest.fixture
def plan() -> bytes:
    return dump(steps())


@pytest.fixture
def program(plan: bytes) -> Program:
    return load(plan)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "one.run"


@pytest.fixture
def journal(path: Path, plan: bytes, program: Program) -> Iterator[Journal]:
    made = create(path, plan, program.digest, {"scenario": "somewhere"})
    yield made
    made.close()
