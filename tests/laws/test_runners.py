"""Whoever runs plans needs `stagec.ir.plan` and the vocabulary, and waits for nothing else to be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

TOP = Path(__file__).parents[2]
OURS = ("stagec.core", "stagec.ir.plan", "stagec.ir.protocol")
HEAVY = (
    "argparse",
    "ast",
    "asyncio",
    "concurrent",
    "contextlib",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "email",
    "inspect",
    "logging",
    "pathlib",
    "pickle",
    "random",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "traceback",
    "typing",
    "unittest",
    "urllib",
    "zipfile",
)
"""Parts of the standard library that reading a plan does not need, and that cost milliseconds or do too much."""
PROBE = "import json, sys; sys.path.insert(0, sys.argv[1]); {code}; print(json.dumps(sorted(sys.modules)))"


def modules(code: str) -> set[str]:
    """Return what a fresh interpreter without any library has imported after some code."""
    argv = [sys.executable, "-I", "-S", "-c", PROBE.format(code=code), str(TOP / "compiler")]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout))


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return modules("import stagec.ir.plan") - modules("pass")


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    return f"{module}.".startswith(tuple(f"{each}." for each in packages))


def test_plans_are_made_of_the_vocabulary_and_the_standard_library() -> None:
    graph = grimp.build_graph("stagec", include_external_packages=True, cache_dir=None)
    own = {"stagec.ir.plan", *graph.find_descendants("stagec.ir.plan")}
    named = {each for module in own for each in graph.find_modules_directly_imported_by(module)}
    assert {each for each in named if not is_in(each, OURS) and each not in sys.stdlib_module_names} == set()


def test_nothing_else_of_stagec_is_imported(imported: set[str]) -> None:
    assert {each for each in imported if is_in(each, ("stagec",)) and not is_in(each, OURS)} == {"stagec", "stagec.ir"}


def test_no_heavy_part_of_the_standard_library_is_imported(imported: set[str]) -> None:
    assert imported & set(HEAVY) == set()
