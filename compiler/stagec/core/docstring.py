"""Docstrings that users read: pages of rules, texts of commands, descriptions in schemas.

Python started with `-OO` or `PYTHONOPTIMIZE=2` strips them from what it runs; they are read from the source then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast


def docstring(thing: ModuleType | Callable[..., Any]) -> str:
    """Return the docstring of a module, class or function as written, or an empty text."""
    if thing.__doc__ is not None or sys.flags.optimize < _STRIPPING:
        return thing.__doc__ or ""
    if isinstance(thing, ModuleType):
        return _write(thing.__name__, ())
    return _write(thing.__module__, tuple(name for name in thing.__qualname__.split(".") if name != "<locals>"))


_STRIPPING = 2
"""The level of optimisation from which on Python strips docstrings."""


def _write(module: str, names: tuple[str, ...]) -> str:
    import ast

    node: ast.AST | None = _source(module)
    for name in names:
        inside = ast.walk(node) if node is not None else ()
        node = next((each for each in inside if getattr(each, "name", None) == name), None)
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.get_docstring(node, clean=False) or ""
    return ""


@lru_cache(maxsize=1)
def _source(module: str) -> ast.Module | None:
    """Return the source of a module; the last is kept, because several things of one are asked for in a row."""
    import ast

    spec = sys.modules[module].__spec__
    read = getattr(spec.loader if spec is not None else None, "get_source", None)
    text = read(module) if read is not None else None
    return None if text is None else ast.parse(text)
