"""Frontmatter as YAML 1.2 without the limits that stagec sets to its own: anchors and tags are as good as anything."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.value import replace, value
from stagec.sources.formats.markdown import shift_span
from stagec.sources.tree import Fault, Parsed, Tree

OF_YAML = frozenset({"invalid-yaml", "invalid-frontmatter", "repeated-key", "alias-expansion", "several-documents"})
"""Topics of faults that say what stagec's own reading of a frontmatter found."""
_REFUSED = frozenset({"invalid-yaml", "alias-expansion", "several-documents", "oversized-file", "deep-nesting"})
"""Topics of faults with which a text has no value."""


@value
class FrontmatterBlock:
    """The text of a frontmatter, and where in its file it begins."""

    file: str
    text: str
    start: int


def read_block(block: FrontmatterBlock, budgets: Budgets) -> Parsed:
    """Return the value of a frontmatter, `{}` of an empty one; ranges of faults count from the start of the file."""
    from stagec.sources.yaml_text.reading import read

    parsed = read(block.file, block.text, budgets)
    if any(fault.topic == "empty-file" for fault in parsed.faults):
        return Parsed({})
    moved: list[Fault] = []
    for fault in parsed.faults:
        related = tuple((shift_span(at, block.start), why) for at, why in fault.related)
        moved.append(replace(fault, at=shift_span(fault.at, block.start), related=related))
    return Parsed(parsed.value, tuple(moved))


def find_refusal(parsed: Parsed) -> Fault | None:
    """Return the fault because of which a text has no value."""
    return next((fault for fault in parsed.faults if fault.topic in _REFUSED), None)


def keep_others(tree: Tree) -> tuple[Fault, ...]:
    """Return the faults of a tree that are not about YAML, such as a byte order mark."""
    return tuple(fault for fault in tree.faults if fault.topic not in OF_YAML)
