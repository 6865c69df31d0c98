"""Commands that last collect what is no longer used; those that end soon leave that to the system."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.runtime.drivers.dbos import Worker
from stagec.runtime.serve import server
from stagec.runtime.world import tool_server


@pytest.fixture
def stopped() -> Iterator[None]:
    """Stop the collector, as a command finds it."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize(
    ("command", "owner", "name"),
    [
        (("serve", "--runs", "runs"), server, "serve"),
        (("worker", "--database", "sqlite:///runs.sqlite"), Worker, "work"),
        (("mcp",), tool_server, "serve_tools"),
    ],
)
def test_a_command_that_lasts_collects(
    command: tuple[str, ...], owner: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if command[0] == "worker":
        assert run(("database", "migrate", *command[1:])) == 0
    seen: list[bool] = []
    monkeypatch.setattr(owner, name, lambda *_given, **_named: seen.append(gc.isenabled()))
    assert run(command) == 0
    assert seen == [True]
