"""How large a module, a rule and a function may become before it must be taken apart."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from laws.modules import TOP, modules, offenders, text_of, tree_of, walk

_SIZES = tomllib.loads(text_of(TOP / "pyproject.toml"))["tool"]["stagec_dev"]["sizes"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)


class Size(NamedTuple):
    """How large a function is. Ruff counts its arguments and the ways through it."""

    name: str
    body: int
    nesting: int


LARGEST = Size("", _SIZES["body"], _SIZES["nesting"])


def functions(path: Path) -> Iterator[Function]:
    for node in walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def size(function: Function) -> Size:
    return Size(function.name, body(function), nesting(function))


def body(function: Function) -> int:
    """Count lines from the first statement behind the docstring to the last."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def nesting(node: ast.AST) -> int:
    """Count the blocks inside each other; an expression has none."""
    depths = [0]
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (Function, ast.ClassDef, ast.expr)):
            chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
            depths.append(nesting(child) + (isinstance(child, _BLOCKS) and not chained))
    return max(depths)


def lines_too_many_in(path: Path) -> list[str]:
    is_rule = path.name.startswith("stg") and "rules" in path.parts
    most, lines = _SIZES["rule" if is_rule else "module"], len(text_of(path).splitlines())
    if is_rule:
        lines -= sum(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree_of(path).body)
    return [f"{lines} lines, {most} at most"] if lines > most else []


def large_functions_in(path: Path) -> Iterator[Size]:
    for function in functions(path):
        found = size(function)
        if any(own > most for own, most in zip(found[1:], LARGEST[1:], strict=True)):
            yield found


def test_a_module_fits_in_the_reader_s_head() -> None:
    assert len(modules()) > 1
    assert offenders(lines_too_many_in) == []


def test_a_function_does_one_thing() -> None:
    assert offenders(large_functions_in) == []


def test_the_measure_counts_what_it_says() -> None:
    text = '''
def measured(self, a, *, b):
    """Say."""
    for each in a:
        if each and b:
            return [x for x in b]
        elif each:
            with a:
                pass
    return None
'''
    (function,) = (node for node in ast.parse(text).body if isinstance(node, Function))
    assert size(function) == Size("measured", 7, 3)
