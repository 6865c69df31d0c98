"""What a frontmatter that is no YAML says once some of its values stand in quotes."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.frontmatter import FrontmatterBlock, find_refusal, read_block
from stagec.frontends.agent_files.loaders.quoting import Quoted, list_needed, make_format, move_back
from stagec.sources.tree import Fault


def read_quoted(quoted: Quoted, refused: Fault, budgets: Budgets) -> OwnerReading:
    """Return what a frontmatter with quotes says; `refused` is why it could not be read without them."""
    file = quoted.block.file
    parsed = read_block(FrontmatterBlock(file, quoted.text, 0), budgets)
    trouble = find_refusal(parsed)
    if trouble is not None or not isinstance(parsed.value, dict):
        told = move_back(trouble, quoted) if trouble is not None and trouble.reason == "unindented" else refused
        return OwnerReading(LoadOutcome.LOST, faults=(told,))
    return OwnerReading(
        LoadOutcome.REPAIRED,
        parsed.value,
        tuple(move_back(fault, quoted) for fault in parsed.faults if fault.topic != "repeated-key"),
        unportable=refused,
        mends=tuple((Place(file, range=where), text) for where, text in list_needed(quoted)),
        format=make_format(quoted),
    )
