"""The path of an artifact ends with a slash.

## Why this matters
Artifacts are files: they are checked, hashed and published one by one. A slash at the end means a folder.

## How to fix
Name the file. To hand on several files, declare each of them, or let the stage pack them into one.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-trailing-slash",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.TRAILING_SLASH):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")
