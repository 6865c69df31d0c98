"""Shelf: one child per kind of files that stages are made of, each defining one `AgentReader`."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.value import value
from stagec.frontends.stages.adopt import Adopted
from stagec.sources.tree import Tree

__all__ = ["Adopted", "AgentReader", "Tree"]


@value
class AgentReader:
    """A kind of files: how the names of its files end, which trees are of the kind, and the stage made of one.

    `recognises` is asked about trees without faults; the first reader of the shelf that recognises a tree reads it.
    """

    suffixes: tuple[str, ...]
    recognises: Callable[[Tree], bool]
    read: Callable[[Tree], Adopted]
