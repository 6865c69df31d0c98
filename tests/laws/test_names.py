"""What classes and functions are called: a class name stands for one class, and a function for what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from laws.modules import COMPILER, PACKAGE, modules, tree_of, walk

IRREGULAR = frozenset(
    [
        "begun",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "done",
        "drawn",
        "driven",
        "fallen",
        "felt",
        "forgotten",
        "found",
        "frozen",
        "given",
        "gone",
        "got",
        "grown",
        "heard",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "led",
        "left",
        "lost",
        "made",
        "meant",
        "met",
        "misspelt",
        "paid",
        "risen",
        "said",
        "seen",
        "sent",
        "shown",
        "sold",
        "sought",
        "spelt",
        "spent",
        "spoken",
        "stood",
        "stuck",
        "sworn",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "unknown",
        "won",
        "worn",
        "written",
    ]
)
"""Participles that do not end in `ed`, but for those that are also the plain verb, such as `put` and `read`."""
PLAIN = frozenset({"bleed", "embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"})
"""Verbs and nouns that end in `ed` and are no participles."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def classes(package: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of every public class with the module that defines it."""
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, module


def find_collisions(found: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the names that several modules define, with these modules."""
    modules: dict[str, set[str]] = {}
    for name, module in found:
        modules.setdefault(name, set()).add(module)
    return {name: many for name, many in modules.items() if len(many) > 1}


def begins_with_participle(name: str) -> bool:
    """Tell whether a function is called by what has been done."""
    first = name.lstrip("_").partition("_")[0]
    return first in IRREGULAR or (first.endswith("ed") and first not in PLAIN)


def misnamed(tree: ast.Module) -> Iterator[str]:
    """Yield the functions that begin with a participle; properties are called by what they hold."""
    for node in walk(tree):
        if isinstance(node, Function) and begins_with_participle(node.name) and not _is_property(node):
            yield node.name


def _is_property(node: Function) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id in {"property", "cached_property"} for each in node.decorator_list
    )


def test_a_public_class_name_stands_for_one_class() -> None:
    found = list(classes(PACKAGE))
    assert len(found) > 1
    assert find_collisions(found) == {}


def test_functions_are_verbs() -> None:
    found = [
        f"{path.relative_to(COMPILER)}: {name}"
        for path in modules()
        for name in misnamed(tree_of(path))
        if path.parent.name != "operators"  # an operator is called as what it changes
    ]
    assert found == []


def test_the_laws_see_what_they_forbid() -> None:
    tree = ast.parse(
        "def written(): ...\ndef _told_to(): ...\ndef parted(): ...\n"
        "def need(): ...\ndef read(): ...\ndef is_done(): ...\n"
        "class A:\n    @property\n    def named(self): ...\n    async def listed(self): ...\n"
    )
    assert sorted(misnamed(tree)) == ["_told_to", "listed", "parted", "written"]
    found = [("Node", "a"), ("Edge", "a"), ("Edge", "b")]
    assert find_collisions(found) == {"Edge": {"a", "b"}}
