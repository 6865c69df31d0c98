"""What classes and functions are called: a class name stands for one idea, and a function is called by what it does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from laws.modules import COMPILER, PACKAGE, TOP, modules, text_of, tree_of, walk

GLOSSARY = TOP / "docs" / "glossary.md"
SHARED = "## One name in two places"
"""The heading of the table that lists what has one name in several modules."""

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


def read_shared(page: str) -> Mapping[str, frozenset[str]]:
    """Return the names of the glossary's table, each with the modules that may define it."""
    _, _, after = page.partition(SHARED)
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", after.partition("\n## ")[0], re.MULTILINE)
    return {name: frozenset(re.findall(r"`([\w.]+)`", modules)) for name, modules in rows}


def find_collisions(found: Iterable[tuple[str, str]], shared: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    """Return the names that several modules define, with these modules, where the glossary does not allow it."""
    modules: dict[str, set[str]] = {}
    for name, module in found:
        modules.setdefault(name, set()).add(module)
    return {name: many for name, many in modules.items() if len(many) > 1 and not many <= shared.get(name, frozenset())}


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


def test_a_public_class_name_stands_for_one_idea() -> None:
    found = find_collisions(classes(PACKAGE), read_shared(text_of(GLOSSARY)))
    assert found == {}


def test_the_glossary_lists_no_shared_name_that_is_gone() -> None:
    found = set(classes(PACKAGE))
    listed = {(name, module) for name, modules in read_shared(text_of(GLOSSARY)).items() for module in modules}
    assert listed, "the table is there"
    assert listed - found == set()


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
    page = f"{SHARED}\n\n| class | modules |\n|---|---|\n| `Node` | `a`, `b` |\n\n## Next\n\n| `Edge` | `a`, `b` |\n"
    assert read_shared(page) == {"Node": frozenset({"a", "b"})}
    found = [("Node", "a"), ("Node", "b"), ("Edge", "a"), ("Edge", "b"), ("Flow", "a")]
    assert find_collisions(found, read_shared(page)) == {"Edge": {"a", "b"}}
    assert find_collisions([*found, ("Node", "c")], read_shared(page)).keys() == {"Edge", "Node"}
