"""A regular expression can take very long on a text made for it.

## Why this matters
A repetition inside a repetition that can match the same characters makes many engines try every way to divide a text,
and their number doubles with each character. Model output is such a text sooner or later.

## How to fix
Make sure that each repetition can begin in one way only: `^a+$` instead of `^(a+)+$`, a separator that the repeated
part cannot match, or `maxLength` beside a simpler pattern.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_REASONS = {
    "nested": "repeats what can match the same text in several ways",
    "long": "is longer than {limit} characters",
    "total": "brings the patterns of this file to more than {limit} characters, so it is not examined",
}


@rule(since="0.1", origin=("rulings:everywhere", "CWE-1333"), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("costly-pattern"):
        reason = _REASONS[fault.reason].format(limit=fault.facts["limit"])
        yield Finding(fault.at, f"the pattern {quote(fault.facts['got'])} {reason}")
