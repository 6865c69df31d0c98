"""Files that are one JSON object; another value is nothing."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.sources.tree import Tree


def load(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return what the tool that owns a file reads in it."""
    if isinstance(tree.value, dict):
        return OwnerReading(LoadOutcome.READ, tree.value, tree.faults)
    return OwnerReading(LoadOutcome.LOST, faults=tree.faults)


LOADER = load
