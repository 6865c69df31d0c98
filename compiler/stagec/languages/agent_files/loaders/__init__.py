"""How the tools that own agent files read them: one module per way, each a `Loader`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from stagec.core.budgets import Budgets
from stagec.core.json import Object
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.languages.agent_files.loaders.displaced import Displaced
from stagec.sources.tree import Fault, Format, Tree

__all__ = ["LoadOutcome", "Loader", "OwnerReading"]


class LoadOutcome(Enum):
    """What the tool that owns a file makes of its frontmatter."""

    READ = "read"
    REPAIRED = "read at a second try"
    LOST = "lost"
    ABSENT = "absent"


@value
class OwnerReading:
    """A frontmatter as the tool that owns it reads it.

    `members` are its keys and values; `faults` are what makes it lost, for the rules about documents. `displaced` is
    a frontmatter that does not count because something stands before it, and `cut` is where one ends too early.
    `unportable` is what stricter tools refuse in it, and `mends` are the stretches that would have to stand in quotes,
    with their texts. A `format` finds places in a text that the usual one cannot read.
    """

    outcome: LoadOutcome
    members: Object = NOTHING
    faults: tuple[Fault, ...] = ()
    displaced: Displaced | None = None
    cut: tuple[int, int] | None = None
    unportable: Fault | None = None
    mends: tuple[tuple[Place, str], ...] = ()
    format: Format | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the tool receives the whole frontmatter, so that a missing member is really absent."""
        return self.outcome in {LoadOutcome.READ, LoadOutcome.REPAIRED} and self.cut is None

    @property
    def is_bare(self) -> bool:
        """Whether nothing in the file was meant as frontmatter."""
        return self.outcome is LoadOutcome.ABSENT and self.displaced is None


Loader = Callable[[Tree, Budgets], OwnerReading]
"""Reads the tree of a file, as the format of its suffix left it, by the rules of the tool that owns the file."""
