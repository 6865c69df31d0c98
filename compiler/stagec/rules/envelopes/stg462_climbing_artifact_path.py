"""The path of an artifact contains `.` or `..`.

## Why this matters
Such a path can lead out of the folder of the run, and one file would have many names.

## How to fix
Write the path without these parts.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck, find_path_fault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-traversal",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.TRAVERSAL):
        bare = each.text.removeprefix("./")
        is_plain = bare != each.text and find_path_fault(bare) is None
        fix = Fix(f"write {quote(bare)}", (Edit(Change.REPLACE, each.at, bare),)) if is_plain else None
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}", fix=fix)
