"""A shelf is a package whose direct children each define one member; this module reads a shelf."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from stagec.core.memo import Memo

T = TypeVar("T")
_READ = Memo()


def members(shelf: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Return the one member of type `kind` that each child of the shelf defines, by child name.

    A child is a module, or a package whose `__init__` defines the member and whose other modules are its own affair.
    A process reads each shelf once.
    """
    return _READ.once((shelf, kind), lambda: tuple(member(shelf, name, kind) for name in names(shelf)))


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
