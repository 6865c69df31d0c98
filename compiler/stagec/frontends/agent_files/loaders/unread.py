"""Files that their tool does not read: what stands in them says what they were meant to be."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.json import object_of
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.sources.tree import Tree


def load(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file without saying anything of its mistakes."""
    return OwnerReading(LoadOutcome.ABSENT, object_of(tree.value))
