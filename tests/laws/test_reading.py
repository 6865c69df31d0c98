"""Whatever a user names is read by one module, which reads no more than it is allowed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from laws.modules import PACKAGE, tree_of, walk

HOME = "core/bounded.py"
OWN = {
    "cli/app.py": "the sources of commands, for what they are for",
    "core/rule.py": "the sources of rules, for their names",
    "core/extras.py": "the metadata of stagec's own installation",
    "cli/commands/schema.py": "a schema that stagec publishes",
    "cli/rule_catalogue.py": "the examples of rules, which stagec is packed with",
    "change/creation/new_project.py": "the projects that stagec is packed with",
    "views/emitters/html/__init__.py": "pages of stagec's own",
    "views/svg/drawing.py": "styles of stagec's own",
    "ir/catalogue/document.py": "data about tools that stagec is packed with",
    "cli/commands/conformance.py": "examples that stagec is packed with",
    "languages/agent_files/known.py": "data about tools that stagec is packed with",
    "languages/registry/prompts.py": "the built-in prompts",
    "sources/project/mistakes.py": "a schema that stagec publishes",
    "runtime/serve/server.py": "files of stagec's own page",
    "sources/shape/schema.py": "a schema that stagec publishes",
    "core/templates.py": "templates of stagec's own",
    "runtime/world/supervised_program.py": "what a supervisor tells, and a stream, one piece at a time",
}
"""Modules that read something whole that no user wrote, each with what it is."""


def unbounded(path: Path) -> Iterator[int]:
    """Yield the line of every call that reads a file or a stream to its end, wherever that is."""
    for node in walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, node.func.value
            whole = name in {"read", "readall", "readlines"} and not node.args
            from_json = name == "load" and isinstance(owner, ast.Name) and owner.id in {"json", "tomllib"}
            if whole or from_json or name in {"read_text", "read_bytes"}:
                yield node.lineno


def test_nothing_else_reads_to_the_end() -> None:
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (lines := list(unbounded(path)))
    }
    assert {name: lines for name, lines in found.items() if name not in OWN} == {}
    assert [name for name in OWN if name not in found] == [], "no longer needed"


def test_the_law_sees_what_it_is_about(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("a.read()\nb.read(10)\nc.read_text()\njson.load(d)\njson.loads(e)\nsys.stdin.buffer.read()\n")
    assert list(unbounded(path)) == [1, 3, 4, 6]


def test_there_is_a_home() -> None:
    assert list(unbounded(PACKAGE / HOME)) == []
