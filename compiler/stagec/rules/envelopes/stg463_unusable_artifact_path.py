"""A part of the path of an artifact cannot be the name of a file.

## Why this matters
It is empty, too long, the name of a device on Windows, ends with a dot or a blank, or contains two dots in a row.
Such a name is refused by the programs of the protocol or by a file system.

## How to fix
Write a name of letters, digits, `_`, `-` and single dots.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-segment",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.SEGMENT):
        part = each.fault.part
        subject = f"part {quote(part)} of path" if part not in {"", each.text} else "path"
        yield Finding(each.at, f"{subject} {quote(each.text)} {each.fault.words}")
