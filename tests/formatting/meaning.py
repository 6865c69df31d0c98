"""What a project says, apart from where: diagnostics without places, plans without the digests of sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from stagec.check.formatting import format_file, is_laid_out
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.value import NOTHING, replace
from stagec.ir.plan import dump
from stagec.sources.project.settings import Settings
from stagec.sources.tree import Tree

SETTINGS = Settings(select=("ALL",))


def compile_with(root: Path, overlay: Mapping[str, bytes] = NOTHING) -> Compilation:
    return compile_project(Project(root, (root,), SETTINGS, overlay))


def lay_out(trees: Mapping[str, Tree]) -> dict[str, bytes]:
    """Return the bytes of the files that change."""
    files = [format_file(tree.file, tree, SETTINGS.budgets) for tree in trees.values() if is_read(tree)]
    return {each.file: each.after for each in files if each.after != each.before}


def is_read(tree: Tree) -> bool:
    return tree.readable and is_laid_out(tree)


def list_findings(compilation: Compilation) -> Counter[object]:
    return Counter(
        (
            *(each.code, each.severity, each.at.file, each.at.pointer, each.at.part, each.message, each.folded),
            *sorted((other.at.file, other.at.pointer, other.message) for other in each.related),
        )
        for each in compilation.diagnostics
    )


def list_plans(compilation: Compilation) -> list[bytes]:
    if any(each.severity == "error" for each in compilation.diagnostics):
        return []
    return [dump(replace(each.plan(), sources=NOTHING)) for each in compilation.meanings]


def find_differences(root: Path, overlay: Mapping[str, bytes] = NOTHING) -> str:
    """Return what formatting changes of the meaning of a project, and of itself done twice; nothing if all is well."""
    before = compile_with(root, overlay)
    changed = lay_out(before.trees)
    if not changed:
        return ""
    after = compile_with(root, {**overlay, **changed})
    again = lay_out(after.trees)
    if again:
        return f"formatted once more, it changes: {sorted(again)}"
    lost, gained = list_findings(before), list_findings(after)
    if lost != gained:
        return f"lost {list((lost - gained).elements())[:3]}\ngained {list((gained - lost).elements())[:3]}"
    return "" if list_plans(before) == list_plans(after) else "its plans differ"
