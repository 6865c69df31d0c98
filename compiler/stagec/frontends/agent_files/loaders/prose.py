"""Markdown without frontmatter: all of it is text."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.frontmatter import keep_others
from stagec.sources.tree import Tree


def load(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return what the tool that owns a file reads in it."""
    return OwnerReading(LoadOutcome.ABSENT, faults=keep_others(tree))


LOADER = load
