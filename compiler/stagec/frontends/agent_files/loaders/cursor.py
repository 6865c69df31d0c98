"""Cursor, which reads lines `key: value` as they are and no YAML: quotes and brackets are part of a value."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.frontmatter import keep_others
from stagec.sources.formats.markdown import split
from stagec.sources.tree import Tree

_MEMBER = re.compile(r"^(?P<key>[A-Za-z]+):[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)


def load(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the lines between the marks of a rule as Cursor reads them."""
    text = tree.data.decode(errors="replace")
    fenced = split(text)
    faults = keep_others(tree)
    if fenced is None or not fenced.closed:
        return OwnerReading(LoadOutcome.ABSENT, faults=faults)
    inside = text[fenced.start : fenced.end]
    members: dict[str, Json] = {found["key"]: found["value"] for found in _MEMBER.finditer(inside)}
    return OwnerReading(LoadOutcome.READ, members, faults)
