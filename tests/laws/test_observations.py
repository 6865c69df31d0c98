"""What a check asks the disk, it asks through one module: what it did not record, a kept result could not know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from laws.modules import PACKAGE, offenders, tree_of, walk

CHECKING = (
    "check/acceptance.py",
    "ir/catalogue",
    "cli/checking",
    "sources/contract",
    "check/findings.py",
    "languages",
    "ir/graph",
    "ir",
    "check/pipeline.py",
    "sources/project",
    "check/rules",
    "sources",
    "check/suppressions.py",
)
"""What is executed to find out what is wrong with a project."""
OWN = {
    "ir/catalogue/document.py": "what is known of well-known tools",
    "languages/agent_files/known.py": "what is known of other tools",
    "languages/registry/prompts.py": "the built-in prompts",
    "sources/project/mistakes.py": "a schema that stagec publishes",
    "sources/shape/schema.py": "a schema that stagec publishes",
}
"""Modules that read what belongs to stagec itself, each with what it is."""
ASKING = {"stat", "lstat", "scandir", "listdir", "walk", "readlink", "access", "open", "statvfs", "getxattr"}
ASKING_ABOUT_PATHS = {
    "exists",
    "lexists",
    "isfile",
    "isdir",
    "islink",
    "ismount",
    "realpath",
    "getsize",
    "getmtime",
    "samefile",
}
METHODS = {
    *("exists", "is_file", "is_dir", "is_symlink", "is_mount", "is_fifo", "is_socket", "iterdir"),
    *("resolve", "readlink", "read_text", "read_bytes", "samefile", "expanduser", "lstat"),
}


def asks(tree: ast.AST) -> list[str]:
    """Return what in a module asks a disk."""
    return [ast.unparse(node) for node in walk(tree) if isinstance(node, ast.Call) and _asks(node)]


def _asks(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in {"open", "read_path"}
    if not isinstance(function, ast.Attribute):
        return False
    owner = ast.unparse(function.value)
    if owner in {"os", "os.path"}:
        return function.attr in (ASKING if owner == "os" else ASKING_ABOUT_PATHS)
    # those of paths take no arguments; schemas resolve references, and a resolver all that it was given
    return function.attr in METHODS and not call.args and owner != "resolver"


def asks_of_others(path: Path) -> list[str]:
    inside = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else ""
    return asks(tree_of(path)) if inside.startswith(CHECKING) and inside not in OWN else []


def test_only_observations_ask_the_disk() -> None:
    assert offenders(asks_of_others) == []


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "os.stat('x')",
        "os.path.isdir(x)",
        "path.exists()",
        "Path('x').resolve()",
        "(a / b).read_text()",
        "os.scandir(x)",
    ],
)
def test_the_law_sees_what_asks(code: str) -> None:
    assert asks(ast.parse(code))


@pytest.mark.parametrize("code", ["os.path.join(a, b)", "observations.resolve(x)", "sources.tree(x)", "os.getcwd()"])
def test_the_law_lets_others_compute(code: str) -> None:
    assert asks(ast.parse(code)) == []
