"""One output of a stage is a file, and another one needs a folder of the same name.

## Why this matters
A path cannot be a file and a folder at the same time, so the stage can never write both.

## How to fix
Rename one of them.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import find_nested_paths
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:output-path-conflict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_nested_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        inner, outer = sorted((each.stage.outputs[each.first], each.stage.outputs[each.second]), key=len, reverse=True)
        message = f"output {quote(outer)} is a file and cannot be a folder in {quote(inner)}"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))
