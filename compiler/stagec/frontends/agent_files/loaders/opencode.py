"""OpenCode: where a frontmatter is no YAML, values with colons are read again as texts."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.core.value import replace
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading, strict
from stagec.frontends.agent_files.loaders.frontmatter import FrontmatterBlock, keep_others
from stagec.frontends.agent_files.loaders.quoting import quote_values
from stagec.frontends.agent_files.loaders.second_try import read_quoted
from stagec.sources.formats.markdown import split
from stagec.sources.tree import Tree

_VALUE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\s*:\s*(?P<value>(?![\"'])[^:\r\n]*:[^\r\n]*?)\s*")


def load(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as OpenCode reads it."""
    reading = strict.load(tree, budgets)
    text = tree.data.decode(errors="replace")
    fenced = split(text) if any(fault.topic == "invalid-yaml" for fault in reading.faults) else None
    if reading.outcome is not LoadOutcome.LOST or fenced is None:
        return reading
    block = FrontmatterBlock(tree.file, text[fenced.start : fenced.end], fenced.start)
    refused = next(fault for fault in reading.faults if fault.topic == "invalid-yaml")
    again = read_quoted(quote_values(block, _VALUE.fullmatch), refused, budgets)
    return reading if again.outcome is LoadOutcome.LOST else replace(again, faults=(*keep_others(tree), *again.faults))
