"""Two outputs of a stage are the same file.

## Why this matters
One of them overwrites the other.

## How to fix
Give each output a file of its own, or remove one of them.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import find_equal_paths
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:output-duplicate-path",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_equal_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        message = f"outputs {quote(each.first)} and {quote(each.second)} are the same file"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))
