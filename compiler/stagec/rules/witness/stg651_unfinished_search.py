"""The search for a completed run was given up.

stagec plays runs on the machine that also runs plans, until one of them completes. The search is limited: it makes the
same number of steps on every machine.

## Why this matters
Some runs may complete, or none. The other rules of flows have found no reason why none does.

## How to fix
Nothing has to be changed. `stagec verify --witness PLAN` searches for longer.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.model.witness import SearchedFlow
from stagec.rules.witness import locate_beginning, name_beginnings, rule


@rule(since="0.1", origin=("steps-registry:beyond.livelock",), severity=Severity.NOTE)
def check(searched: SearchedFlow) -> Iterator[Finding]:
    given_up = [each for each in searched.lost if each.is_given_up]
    if given_up:
        begun = name_beginnings(searched.flow, given_up)
        message = f"it is not known whether a run from {begun} completes: {given_up[0].open}"
        yield Finding(locate_beginning(searched.flow, given_up[0]), message)
