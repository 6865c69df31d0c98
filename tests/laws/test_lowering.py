"""A plan is frozen from the flow that was judged: no module that freezes looks at how a document writes its moves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from laws.modules import tree_of, walk

FRONTENDS = Path(__file__).parents[2] / "compiler" / "stagec" / "languages"
MEMBERS = {"cases", "followed", "ignored", "incoming", "intents", "moves", "next_at"}
"""Attributes of documents that say what follows what."""
WORDS = {"condition", "entryStep", "entryStepMapping", "fallback", "next", "nextStages", "targets", "transitions"}
"""Members of files that say it."""


def looked_at(path: Path) -> Iterator[str]:
    """Yield every part of a document's routing that a module reads, as written."""
    for node in walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and node.attr in MEMBERS and not _is_own(node):
            yield node.attr
        if isinstance(node, ast.Constant) and node.value in WORDS:
            yield str(node.value)


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def test_freezing_looks_at_the_flow_and_never_at_transitions_or_routes() -> None:
    modules = sorted((*FRONTENDS.glob("*/freezing/*.py"), *FRONTENDS.glob("*/freezing.py")))
    assert len(modules) > 1
    found = {str(path.relative_to(FRONTENDS)): sorted({*looked_at(path)}) for path in modules}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_law_sees_what_it_forbids(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f(step): return step.body.get('transitions'), step.moves, stage.conduct.cases\n")
    assert sorted({*looked_at(path)}) == ["cases", "moves", "transitions"]
