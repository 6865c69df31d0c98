"""A library that is not there is named, and commands that do not need it work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from handmade import stages

from stagec.cli.app import run
from stagec.ir.plan import dump

EXAMPLE = Path(__file__).parents[2] / "registries" / "docs-repair"
COMPILER = Path(__file__).parents[2] / "compiler"
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
sys.argv = ["stagec", *sys.argv[2:]]
from stagec.cli.app import main
sys.exit(main())
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "review.plan.json"
    path.write_bytes(dump(stages()))
    return path


@pytest.fixture(scope="module")
def matching(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan with a schema that only the library judges."""
    path = tmp_path_factory.mktemp("guest-book") / "guest-book.plan.json"
    assert run(["compile", str(EXAMPLE.parent / "guest-book"), "-o", str(path)]) == 0
    return path


def without(library: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, library, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(COMPILER), "LC_ALL": "C.UTF-8", "PATH": ""},
    )


@pytest.mark.parametrize(
    ("library", "command", "named"),
    [
        ("networkx", "compile", "networkx"),
        ("networkx", "verify", "networkx"),
        ("jsonschema", "compile", "jsonschema"),
        ("jsonschema", "verify", "jsonschema"),
        ("jsonschema_rs", "validate", "jsonschema-rs"),
        ("jsonschema_rs", "compile", "jsonschema-rs"),
        ("jsonschema_rs", "verify", "jsonschema-rs"),
        ("jsonschema_rs", "simulate", "jsonschema-rs"),
        ("jiter", "validate", "jiter"),
    ],
)
def test_the_library_that_is_lacking_is_named(
    library: str, command: str, named: str, plan: Path, matching: Path
) -> None:
    example = EXAMPLE if library != "jiter" else EXAMPLE.parent / "issue-flow"
    ended = without(
        library,
        command,
        *([example] if command in {"compile", "validate"} else [matching if library == "jsonschema_rs" else plan]),
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    first, second = ended.stderr.splitlines()
    assert first.startswith(f"stagec: error: the library '{named}', which this command needs, cannot be imported: ")
    assert second.endswith(f"'python -m pip install {named}' adds it to this Python")


@pytest.mark.parametrize("command", ["validate", "graph", "explain"])
def test_what_does_not_need_networkx_works_without(command: str) -> None:
    ended = without("networkx", command, *([] if command == "explain" else [EXAMPLE]))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_runs_need_no_networkx(plan: Path) -> None:
    assert "networkx" not in without("networkx", "simulate", plan).stderr
    assert without("networkx", "plan", plan).returncode == 0


def test_a_module_of_stagec_that_is_lacking_is_a_fault_of_stagec(plan: Path) -> None:
    assert without("stagec.ir.plan.facts", "verify", plan).returncode == 4
