"""The paths of two outputs differ only in case, or in how their letters are composed.

## Why this matters
They are one file where the file system ignores case, as on most Macs and Windows machines. One then overwrites the
other.

## How to fix
Give the outputs names that differ in more than that.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import find_similar_paths
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:output-case-collision",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_similar_paths(plan):
        at, first = each.stage.place_output(each.second), each.stage.place_output(each.first)
        one, other = each.stage.outputs[each.first], each.stage.outputs[each.second]
        message = f"outputs {quote(one)} and {quote(other)} are one file where case does not count"
        yield Finding(at, message, (Related(first, "the other output"),), causes=(at, first))
