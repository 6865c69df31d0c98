"""How many private functions only split the body of another one."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from laws.modules import PACKAGE, modules, tree_of, walk

MOST = 0.6
"""The share of private functions with a single use, besides rules; it only falls."""


def count_uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the private functions of a module, each with how often its name is used there."""
    uses = Counter(node.id for node in walk(tree) if isinstance(node, ast.Name))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_"):
            yield node.name, uses[node.name]


def test_private_functions_do_not_only_split_others() -> None:
    paths = (path for path in modules() if PACKAGE in path.parents and PACKAGE / "check/rules" not in path.parents)
    counts = [uses for path in paths for _, uses in count_uses(tree_of(path))]
    assert counts.count(1) <= MOST * len(counts), f"{counts.count(1)} of {len(counts)} have a single use"


def test_uses_are_counted() -> None:
    tree = ast.parse("def _a(): ...\ndef _b(): return _a() + _a()\ndef c(): return _b()\nclass _D: ...\n")
    assert dict(count_uses(tree)) == {"_a": 2, "_b": 1}
