"""A run begins with another node."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, operator
from stagec.plan import Plan


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Let each entry be each node that it is not, and runs begin with each other entry."""
    for entry, begun in plan.entries.items():
        for node in plan.nodes if isinstance(begun, str) else ():
            if node != begun:
                told = f"the entry{f' {quote(entry)}' if entry else ''} is {quote(node)} instead of {quote(begun)}"
                fields = {"entries": {**plan.entries, entry: node}}
                yield Mutant(None, ("entries", entry), told, "the 'path' of a run", fields=fields)
        if plan.entry is not None and entry != plan.entry:
            told = f"a run begins with the entry {quote(entry)} when none is named"
            yield Mutant(None, ("entry",), told, "a run without an 'entry', and its 'path'", fields={"entry": entry})
