"""Tools that read frontmatter as YAML once, and nothing of it if that fails."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.json import object_of
from stagec.languages.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.languages.agent_files.loaders.displaced import find_displaced
from stagec.languages.agent_files.loaders.frontmatter import FrontmatterBlock, find_refusal, keep_others, read_block
from stagec.sources.formats.markdown import split
from stagec.sources.tree import Fault, Tree

_OWN_LIMITS = frozenset({"anchor", "tag"})
"""Reasons for which stagec refuses frontmatter of its own that is good YAML."""


def load(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as a tool reads it that tries once."""
    if not tree.readable and any(map(_is_own_limit, tree.faults)):
        return _read_again(tree, budgets)
    if isinstance(tree.value, dict):
        return OwnerReading(LoadOutcome.READ, object_of(tree.value), tree.faults)
    if tree.faults and not tree.readable:
        return OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    displaced = find_displaced(tree.file, tree.data.decode(errors="replace"), budgets)
    return OwnerReading(LoadOutcome.ABSENT, faults=tree.faults, displaced=displaced)


def _is_own_limit(fault: Fault) -> bool:
    return fault.topic == "invalid-frontmatter" and fault.reason in _OWN_LIMITS


def _read_again(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return what YAML says of a frontmatter with anchors or tags."""
    text = tree.data.decode(errors="replace")
    fenced = split(text)
    if fenced is None:
        return OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    parsed = read_block(FrontmatterBlock(tree.file, text[fenced.start : fenced.end], fenced.start), budgets)
    faults = (*keep_others(tree), *parsed.faults)
    if find_refusal(parsed) is not None or not isinstance(parsed.value, dict):
        return OwnerReading(LoadOutcome.LOST, faults=faults or tree.faults)
    return OwnerReading(LoadOutcome.READ, parsed.value, faults)
