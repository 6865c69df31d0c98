"""Shelves of members, and the docstrings that users read of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from stagec.core.memo import Memo

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


T = TypeVar("T")
_READ = Memo()


def members(shelf: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Return the members of type `kind` that the children of a shelf define, by child name and in their order there.

    A child is a module, or a package whose `__init__` defines members and whose other modules are its own affair. A
    module without children is a shelf of what it defines. A child without members is a programming error. A process
    reads each shelf once.
    """
    return _READ.once((shelf, kind), lambda: tuple(_read(shelf, kind)))


def _read(shelf: ModuleType, kind: type[T]) -> Iterator[T]:
    is_module = not hasattr(shelf, "__path__")
    for child in (shelf,) if is_module else (import_module(f"{shelf.__name__}.{name}") for name in names(shelf)):
        found = [each for each in vars(child).values() if isinstance(each, kind)]
        if not found:
            raise ImportError(f"{child.__name__} must define a {kind.__name__}")
        yield from found


def member(shelf: ModuleType, name: str, kind: type[T]) -> T:
    """Import one child of a shelf and return its member; a child without exactly one is a programming error."""
    module = import_module(f"{shelf.__name__}.{name}")
    found = [each for each in vars(module).values() if isinstance(each, kind)]
    if len(found) != 1:
        raise ImportError(f"{module.__name__} must define exactly one {kind.__name__}, found {len(found)}")
    return found[0]


def names(shelf: ModuleType) -> tuple[str, ...]:
    """Return the names of a shelf's children, sorted, without importing any."""
    found: set[str] = set()
    for entry in (each for path in shelf.__path__ for each in os.scandir(path)):
        if entry.is_dir():
            is_member = os.path.exists(os.path.join(entry.path, "__init__.py"))
        else:
            is_member = entry.name.endswith(".py")
        if is_member and not entry.name.startswith(("_", ".")):
            found.add(entry.name.removesuffix(".py"))
    return tuple(sorted(found))
