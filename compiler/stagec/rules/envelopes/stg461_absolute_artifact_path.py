"""The path of an artifact is absolute.

## Why this matters
Outputs lie in the folder of their stage, and inputs below the folder of the run or the project root. A path from the
root of a file system, or with the letter of a drive, leads out of them.

## How to fix
Write a path relative to the folder of the stage for an output, and relative to the project root for a file of the
project.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-absolute",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.ABSOLUTE):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")
