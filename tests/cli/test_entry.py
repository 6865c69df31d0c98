"""A plain command line says the same with and without the library that reads command lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nursery
import pytest

from stagec.cli import app, checking, entry
from stagec.cli.checking import ValidateRequest

PLAIN = (
    ("validate",),
    ("validate", "a", "b/c.json"),
    ("validate", ""),
    ("validate", ".", "--quiet", "x"),
    ("validate", "-q", "--strict", "--statistics", "--allow-empty", "--no-cache"),
    ("validate", "--quiet", "--quiet", "é ü", "a=b"),
)
OTHERS = (
    *((), ("graph",), ("validate", "-"), ("validate", "--", "a"), ("validate", "--format", "json"), ("--version",)),
    *(("validate", "--quie"), ("validate", "-qq"), ("validate", "--no-cache=1"), ("validate", "-h"), ("a", "validate")),
    *(("--budget", "depth=5", "validate"), ("validate", "--watch"), ("validate", "--fix"), ("validate", "-o", "x")),
)


@pytest.mark.parametrize("arguments", PLAIN)
def test_a_plain_command_line_means_the_same(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ValidateRequest] = []

    def take(request: ValidateRequest) -> int:
        asked.append(request)
        return 0

    monkeypatch.setattr(checking, "run", take)
    assert app.run(arguments) == 0
    given = entry.read_plain(arguments)
    assert given is not None
    assert asked == [ValidateRequest(**given)]


@pytest.mark.parametrize("arguments", OTHERS)
def test_any_other_is_left_to_the_library(arguments: tuple[str, ...]) -> None:
    assert entry.read_plain(arguments) is None


def test_the_switches_are_those_of_the_command() -> None:
    from stagec.cli.commands.validate import validate

    known: dict[str, Any] = {name: each for each in validate.params for name in each.opts}
    assert all(known[option].is_flag and known[option].name == name for option, name in entry._SWITCHES.items())


@pytest.mark.parametrize("status", [0, 1, 2, 3])
def test_it_ends_as_with_the_library(status: int, project: Path) -> None:
    """The option at the end, which changes nothing, needs the library."""
    if status == 1:
        (project / "steps_registry.json").write_text('{"agentId": }\n')
    words = {2: ("nowhere",), 3: ("prompts",)}.get(status, (".",))
    plain, other = (
        subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "stagec", "validate", *words, *more],
            cwd=project,
            env=nursery.environment(),
            capture_output=True,
            check=False,
        )
        for more in ((), ("--format", "text"))
    )
    said = [[line for line in each.stderr.splitlines() if b"import time:" not in line] for each in (plain, other)]
    assert (plain.returncode, plain.stdout, said[0]) == (other.returncode, other.stdout, said[1])
    assert plain.returncode == status
    assert [b" click\n" in each.stderr for each in (plain, other)] == [False, True]
