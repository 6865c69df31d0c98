"""Every module of the package, parsed once, and what laws say of those that break them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from stagec.core.collector import PausedCollector

TOP = Path(__file__).parents[2]
COMPILER = TOP / "compiler"
PACKAGE = COMPILER / "stagec"


@cache
def modules() -> tuple[Path, ...]:
    starters = COMPILER / "starters"  # whose programs belong to the projects that `stagec init` makes
    return tuple(sorted(path for path in COMPILER.rglob("*.py") if starters not in path.parents))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    with PausedCollector():  # trees have millions of nodes, and all stay
        return ast.parse(text_of(path))


@cache
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    with PausedCollector():
        return tuple(ast.walk(tree))


def offenders(law: Callable[[Path], Iterable[object]]) -> list[str]:
    """List every module with each thing in it that breaks a law, one line each."""
    return [f"{path.relative_to(COMPILER)}: {each}" for path in modules() for each in law(path)]


def calls_in(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of a plain name, with the name."""
    for node in walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node
