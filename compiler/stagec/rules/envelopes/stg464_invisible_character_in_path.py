"""The path of an artifact contains a character that cannot be seen.

## Why this matters
Control characters, characters without width and those that turn the direction of text make a path look like another
one.

## How to fix
Type the path anew, without them.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-control",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.CONTROL):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")
