"""The path of an artifact contains characters that do not work everywhere.

## Why this matters
Windows refuses `<>:"|?*` in names and takes a backslash for a slash. Programs take a name that begins with `-` for an
option, and shells take `~` for a home folder.

## How to fix
Write a name of letters, digits, `_`, `-` and dots that begins with a letter or a digit.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import list_faulty_paths
from stagec.protocol.artifact_paths import PathCheck
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-path-portability",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in list_faulty_paths(plan, PathCheck.PORTABILITY):
        yield Finding(each.at, f"path {quote(each.text)} {each.fault.words}")
